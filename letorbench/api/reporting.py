"""Everything about the results as one HTML page."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path

from letorbench.analysis.comparison import Procedure
from letorbench.analysis.report.gather import gather
from letorbench.analysis.report.page import page
from letorbench.analysis.results_table import comparable
from letorbench.api.results_view import Results
from letorbench.api.selection import measure_names
from letorbench.files import write_atomically
from letorbench.results.measuring import extended
from letorbench.results.user_files import check_output

__all__ = ["Procedure", "write_report"]


def write_report(
    found: Results,
    path: str | Path,
    baseline: str | None = None,
    measure: str = "ndcg@10",
    procedure: Procedure = Procedure(),
    given: Sequence[str] = (),
) -> Path:
    """Write the report of `Results.report`; return its path.

    Parameters
    ----------
    found : Results
    path : path-like
        The file to write.
    baseline : str, optional
        What differences are taken from; the best algorithm of each data set by default.
    measure : str
        What algorithms are compared by.
    procedure : Procedure
        How differences are tested.
    given : sequence of str
        The command line's options, which the report repeats.

    Raises
    ------
    UsageError
        The file to write is one of data or of a stored fold.
    """
    check_output(Path(path), data_dir=found.data_dir)
    found.require_algorithm(baseline)
    gathered = []
    for summary in found.summaries:
        (name,) = measure_names((measure,), summary)[:1]
        summary = extended(found.out, found.data_dir, summary, [name])
        rows = comparable(summary) or summary.rows
        best = max(rows, key=lambda row: row.values[name]).algo
        gathered.append(gather(found.out, found.data_dir, summary, baseline or best))
    command = shlex.join(["letorbench", "report", *found.datasets, *given])
    with write_atomically(Path(path)) as file:
        file.write(page(gathered, procedure, name, command))
    return Path(path)
