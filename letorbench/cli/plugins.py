"""`--plugin FILE`: rankers of a Python file, known to the command."""

from __future__ import annotations

from pathlib import Path

import click


def _use(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> None:
    if paths:
        from letorbench.rankers import plugins

        for path in paths:
            plugins.use(path)


option = click.option(
    "--plugin", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
    is_eager=True, expose_value=False, callback=_use, metavar="FILE",
    help="A Python file with rankers of your own; repeat.",
)  # fmt: skip
