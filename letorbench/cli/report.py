"""`letorbench report`: everything about stored results in one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from letorbench.cli import options
from letorbench.cli.group import say

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
    "--out-file",
    type=click.Path(dir_okay=False, path_type=Path),
    default=Path("report.html"),
    help="The file to write.",
)
@options.stored
def report(
    results: Results, baseline: str | None, measure: str, procedure: Procedure, out_file: Path
) -> None:  # fmt: skip
    """Write a report of data sets (all that have results by default) that any browser opens.

    Results, curves with 95 % bands, per-query differences from the baseline (where none is
    given, the best algorithm of each data set), validation curves, settings, timings, warnings
    and where everything comes from. Needs no network and no server.
    """
    say(results.report(out_file, baseline, measure, procedure, _given()))


def _given() -> list[str]:
    """The options of the command line, without where the report goes."""
    ctx = click.get_current_context()
    words = []
    for param in ctx.command.params:
        given = ctx.get_parameter_source(param.name) is ParameterSource.COMMANDLINE
        if given and isinstance(param, click.Option) and param.name != "out_file":
            value = ctx.params[param.name]
            for each in value if param.multiple else (value,):
                words += [param.opts[0], str(each)]
    return words
