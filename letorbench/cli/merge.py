"""`letorbench results merge`: what several machines ran, in one folder."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import click

from letorbench.cli import options
from letorbench.cli.group import Commands, complain, say
from letorbench.errors import DataError, UsageError


@click.group(cls=Commands, short_help="Results folders: merge.", no_args_is_help=True)
def results() -> None:
    """Results folders: merge."""


@results.command(short_help="Bring the results of several machines into one folder.")
@click.argument("folders", nargs=-1, required=True, metavar="FOLDER…", type=options.FOLDER)
@options.out
def merge(folders: tuple[Path, ...], out: Path) -> None:
    """Copy the finished folds of results folders into one, and make its tables and figures.

    Everything is checked before anything is copied: damaged folds are left out, and folders that
    contradict each other are refused.
    """
    from letorbench.api.exchange import merge_folders
    from letorbench.api.results_view import results
    from letorbench.api.showing import write_figures

    lines, damaged = merge_folders(folders, out)
    with suppress(DataError, UsageError):  # nothing is stored, or not the measures of the figure
        write_figures(results(out))
    for line in lines:
        say(line)
    complain(damaged, "warning")
