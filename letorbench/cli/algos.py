"""`letorbench algos`: what there is; one: paper, formula, parameters, grid."""

from __future__ import annotations

import click

from letorbench.cli import completion, plugins


@click.command(short_help="List the algorithms, or describe one.")
@click.argument("name", required=False, shell_complete=completion.algorithms)
@plugins.option
def algos(name: str | None) -> None:
    """List the algorithms, or describe one: paper, formula, parameters, grid."""
    from letorbench.choices import require_choice
    from letorbench.rankers import names, ranker

    if name is None:
        width = max(map(len, names()))
        for each in names():
            click.echo(f"{each.ljust(width)}  {ranker(each).title}")
    else:
        _describe(require_choice(name, names(), "algorithm"))


def _describe(name: str) -> None:
    from inspect import getdoc

    from letorbench.experiment.settings import describe, parameters
    from letorbench.rankers import ranker

    cls = ranker(name)
    click.echo(f"{name}: {cls.title}\n\npaper    {cls.paper}\nformula  {cls.formula}\n")
    if not cls.available():
        click.echo(f"needs    the package {cls.needs}: python -m pip install '{cls.extra}'\n")
    defaults = cls().get_params()
    for key, kind in parameters(cls).items():
        spelled = cls.spelled.get(key, key)
        line = f"--set {spelled}={defaults[key]}".ljust(32) + f"  {describe(kind)}"
        if key in cls.grid:
            line += f"; validation chooses from {', '.join(map(str, cls.grid[key]))}"
        click.echo(line)
    if not defaults:
        click.echo("no parameters")
    click.echo(f"\n{getdoc(cls)}")
