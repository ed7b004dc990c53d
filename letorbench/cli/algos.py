"""`letorbench algos`: the list of algorithms, or all about one."""

from __future__ import annotations

import click

from letorbench.cli import completion, plugin_option


@click.command(short_help="List the algorithms, or describe one.")
@click.argument("name", required=False, shell_complete=completion.algorithms)
@plugin_option.option
def algos(name: str | None) -> None:
    """List the algorithms, or describe one: paper, formula, parameters, grid."""
    from letorbench.api.algorithms import description, titles

    if name is not None:
        click.echo(description(name))
        return
    rows = titles()
    width = max(len(each) for each, _ in rows)
    for each, title in rows:
        click.echo(f"{each.ljust(width)}  {title}")
