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
    """Import every NAME=PATTERN for every data set, measured as its stored results.

    The algorithms to show: with the new ones, where only some were asked for. UsageError for
    another form than NAME=PATTERN; warnings go to stderr.
    """
    pairs = [word.partition("=") for word in externals]
    if not pairs:
        return tuple(algos)
    from letorbench.choices import split
    from letorbench.datasets.load import load
    from letorbench.errors import UsageError
    from letorbench.results.import_external import import_external
    from letorbench.results.paths import present
    from letorbench.results.summary import stored_reading

    names = split(datasets) or ["all"]
    for dataset in present(out) if "all" in names else names:
        benchmark = load(dataset, data_dir, *stored_reading(out, dataset))
        for name, equals, pattern in pairs:
            if not (name and equals and pattern):
                raise UsageError(f"--external {name}{equals}{pattern}: expected NAME=PATTERN")
            complain(import_external(name, pattern, benchmark, out)[1], "warning")
    return (*algos, *(name for name, _, _ in pairs)) if algos else ()
