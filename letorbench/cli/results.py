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
    from letorbench.api.results import load_results
    from letorbench.cli.plot import write_figures
    from letorbench.results.merging import merge as merge_stored

    merged = merge_stored(folders, out)
    with suppress(DataError, UsageError):  # nothing is stored, or not the measures of the figure
        write_figures(load_results(out))
    there = f", {merged.reused} were there already" if merged.reused else ""
    say(f"{out}: {merged.copied} fold{'s' * (merged.copied != 1)} copied{there}")
    for summary in merged.summaries:
        for line in summary.partial:
            say(f"{summary.dataset}: partial: {line}")
    complain(merged.damaged, "warning")
