"""What `table`, `plot`, `compare` and `report` share: which stored results they show."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import completion
from letorbench.cli.group import complain

if TYPE_CHECKING:
    from letorbench.api.results_view import Results

datasets = click.argument(
    "datasets", nargs=-1, metavar="DATASET…", shell_complete=completion.with_results
)
algos = click.option(
    "--algo", "algos", multiple=True, metavar="NAME…", shell_complete=completion.run_algorithms,
    help="Which algorithms; `baselines`: those of the seven that have results.  [default: all]",
)  # fmt: skip


def results(
    datasets: Sequence[str],
    algos: Sequence[str],
    data_dir: Path,
    out: Path,
    baseline: str | None = None,
) -> Results:
    """Return the stored results of these data sets and algorithms, the baseline with them.

    A line on stderr names each damaged fold, which is left out.
    """
    from letorbench.api.results_view import results as stored_results

    found = stored_results(out, datasets, algos, data_dir, baseline)
    complain(found.warnings, "warning")
    return found
