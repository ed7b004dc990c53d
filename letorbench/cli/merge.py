"""`letorbench results merge`: what several machines ran, in one folder."""

from __future__ import annotations

from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import Commands, complain, say


@click.group(cls=Commands, short_help="Results folders: merge.", no_args_is_help=True)
def results() -> None:
    """Results folders: merge."""


@results.command(short_help="Bring the results of several machines into one folder.")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER…", type=options.FOLDER)
@options.out
def merge(folders: tuple[Path, ...], out: Path) -> None:
    """Copy the finished folds of results folders into one, and make its tables.

    Everything is checked before anything is copied: damaged folds are left out, and folders that
    contradict each other are refused.
    """
    from letorbench.api.exchange import merge_folders

    lines, damaged = merge_folders(folders, out)
    for line in lines:
        say(line)
    complain(damaged, "warning")
