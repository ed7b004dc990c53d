"""`letorbench score`: a score file against a test file, as the official tools do it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from letorbench.analysis.tables import data_table
from letorbench.cli import options
from letorbench.cli.group import complain, say, show
from letorbench.errors import UsageError

if TYPE_CHECKING:
    from letorbench.datasets.user_data.tables import Columns


@click.command()
@click.option("--data", type=options.FILE, help="A test file: LETOR text, a table, …")
@click.option("--qrels", type=options.FILE, help="A TREC qrels file instead.")
@click.option(
    "--scores", required=True, type=options.FILE,
    help="One score a line, in the file's order; or RankLib's three columns; or a TREC run.",
)  # fmt: skip
@options.convention_of("standard")
@options.format_of("official", "csv", help="The official tool's own output, or CSV.")
@click.option("--per-query", is_flag=True, help="Every query's values, not only their means.")
@options.table_columns
@options.null
def score(
    data: Path | None, qrels: Path | None, scores: Path, convention: str, form: str,
    per_query: bool, columns: Columns, null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or a TREC run against qrels."""
    import numpy as np

    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.checks import check_convention
    from letorbench.datasets.reader import ReadOptions
    from letorbench.datasets.user_data.read import read_documents
    from letorbench.measures import default_measures, query_metrics
    from letorbench.results.external import read_qrels, read_scores_of
    from letorbench.results.official import official

    if (data is None) == (qrels is None):
        raise UsageError("expected one of --data and --qrels")
    if data is not None:
        queries = read_documents(data, ReadOptions(null=null, clip=True), columns)
    elif qrels is not None:
        queries = read_qrels(qrels)
    largest, chosen = int(queries.labels.max(initial=0)), options.given("convention")
    doubt = check_convention(queries.n_features, largest, convention, chosen)
    if doubt:
        complain([f"{data or qrels}: {doubt}"], "warning")
    rules, values = convention_named(convention), read_scores_of(scores, queries)
    if form == "official":
        text = official(queries.qids, queries.labels, values, queries.offsets, rules, per_query)
        say(text, nl=False)
        return
    measures = default_measures(rules)
    table = query_metrics(queries.labels, values, queries.offsets, measures, rules)
    means = np.nanmean(table, axis=0)
    rows = [[convention, "mean", *means.tolist()]]
    if per_query:
        called = queries.qids if queries.query_names is None else queries.query_names
        queries_rows = zip(called.tolist(), table.tolist())
        rows = [*([convention, qid, *row] for qid, row in queries_rows), *rows]
    show(data_table(["convention", "qid", *map(str, measures)], rows), "csv")
