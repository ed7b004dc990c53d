"""`letorbench report`: everything about stored results in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.cli import options
from letorbench.cli.group import echo

if TYPE_CHECKING:
    from letorbench.analysis.comparison import Procedure
    from letorbench.api.results import Results


@click.command(short_help="Write stored results as one self-contained HTML file.")
@options.baseline
@options.option(
    "--measure", default="ndcg@10", metavar="MEASURE", help="What algorithms are compared by."
)
@options.procedure
@options.option(
    "--out-file", type=options.NEW_FILE, default=Path("report.html"), help="The file to write."
)
@options.stored
def report(
    results: Results, baseline: str | None, measure: str, procedure: Procedure, out_file: Path
) -> None:
    """Write a report of data sets (all that have results by default) that any browser opens.

    It has results, curves with 95 % bands, per-query differences from the baseline (by default the
    best algorithm of each data set) with their reasons, validation curves, settings, timings,
    warnings and sources. It needs no network and no server.
    """
    from letorbench.named_files import is_stream

    words = click.get_current_context().find_root().obj or ()
    written = results.report(out_file, baseline, measure, procedure, words)
    echo(written, err=is_stream(written))
