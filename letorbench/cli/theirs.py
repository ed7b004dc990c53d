"""`--external NAME=PATTERN`: other people's score files beside stored results."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from letorbench.cli.group import complain

option = click.option(
    "--external", "externals", multiple=True, metavar="NAME=PATTERN",
    help="Also a system's score files, {fold} (and {dataset}) in their path; repeat.",
)  # fmt: skip


def take_in(
    externals: Sequence[str],
    datasets: Sequence[str],
    algos: Sequence[str],
    data_dir: Path,
    out: Path,
) -> tuple[str, ...]:
    """Import every NAME=PATTERN for every data set; warnings go to stderr.

    Returns
    -------
    tuple of str
        The algorithms to show: with the new ones, where only some were asked for.
    """
    if not externals:
        return tuple(algos)
    from letorbench.api.exchange import import_beside

    names, notes = import_beside(externals, datasets, data_dir, out)
    complain(notes, "warning")
    return (*algos, *names) if algos else ()
