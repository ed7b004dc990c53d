"""`letorbench table`: stored results as text, CSV, Markdown or LaTeX."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from letorbench.cli import options
from letorbench.cli.group import show

if TYPE_CHECKING:
    from letorbench.analysis.comparison import Procedure
    from letorbench.api.results import Results


@click.command(short_help="Print stored results as text, CSV, Markdown or LaTeX.")
@options.format_of("text", "csv", "markdown", "latex")
@options.measures(
    "Columns: repeat, comma lists, `all`.  [default: ndcg@1,3,5,10 and map; csv: all]"
)
@click.option("--published", is_flag=True, help="Published figures beside ours, with sources.")
@click.option(
    "--shares", is_flag=True, help="Learning curves: by the share of the training queries."
)
@options.baseline
@options.procedure
@options.stored
def table(
    results: Results, form: str, measures: tuple[str, ...], published: bool, shares: bool,
    baseline: str | None, procedure: Procedure,
) -> None:  # fmt: skip
    """Print the stored results of data sets (all that have any by default).

    A measure or cut-off that was not stored is computed from the stored scores and the data.
    """
    from letorbench.analysis.comparison import marks
    from letorbench.analysis.published import published_table
    from letorbench.analysis.results_table import summary_table, usual
    from letorbench.measures import texts

    if published:
        options.refuse("--published", "baseline", *options.PROCEDURE)
    if shares:
        options.refuse("--shares", "baseline", "published", *options.PROCEDURE)
        several = texts(measures or ("ndcg@10",))
        show([each.table for name in several for each in results.learning(name)], form)
        return
    tables = []
    for frame in results.frames:
        names = frame.names(measures or ("all" if form == "csv" else usual(frame)))
        frame = frame.measured(names)
        if published:
            tables.append(published_table(frame, names))
        else:
            against = marks(frame, names, baseline, procedure) if baseline else None
            tables.append(summary_table(frame, names, against))
    show(tables, form)
