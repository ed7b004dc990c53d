"""`letorbench algos`: the list of algorithms, or all about one."""

from __future__ import annotations

import click

from letorbench.cli import completion, plugin_option
from letorbench.cli.group import say


@click.command(short_help="List the algorithms, or describe one.")
@click.argument("name", required=False, shell_complete=completion.algorithms)
@click.option(
    "--parts", is_flag=True, help="List the models, losses and solvers that a recipe combines."
)
@plugin_option.option
def algos(name: str | None, parts: bool) -> None:
    """List the algorithms, or describe one: paper, formula, parameters, grid."""
    from letorbench.api.algorithms import description, titles

    if parts:
        if name is not None:
            raise click.UsageError(f"--parts lists the parts of recipes: found {name} beside it")
        from letorbench.api import recipe_parts

        say(recipe_parts.parts())
        return
    if name is not None:
        say(description(name))
        return
    rows = titles()
    width = max(len(each) for each, _ in rows)
    for each, title in rows:
        say(f"{each.ljust(width)}  {title}")
