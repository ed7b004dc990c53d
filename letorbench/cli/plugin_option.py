"""`--plugin FILE`: the rankers of a Python file."""

from __future__ import annotations

from pathlib import Path

import click


def _use(ctx: click.Context, param: click.Parameter, paths: tuple[Path, ...]) -> None:
    if paths:
        from letorbench.api.algorithms import use_plugin

        for path in paths:
            use_plugin(path)


option = click.option(
    "--plugin", type=click.Path(exists=True, dir_okay=False, path_type=Path), multiple=True,
    is_eager=True, expose_value=False, callback=_use, metavar="FILE",
    help="A Python file with rankers of your own; repeat.",
)  # fmt: skip
