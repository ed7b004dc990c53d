"""`letorbench score`: a score file against a test file, as the official tools do it."""

from pathlib import Path

import click

from letorbench.analysis.tables import data_table
from letorbench.cli import options
from letorbench.cli.group import complain, say, show
from letorbench.errors import UsageError


@click.command()
@click.option("--data", type=options.FILE, help="A test file of LETOR text.")
@click.option("--qrels", type=options.FILE, help="A TREC qrels file instead.")
@click.option(
    "--scores", required=True, type=options.FILE,
    help="One score a line, in the file's order; or RankLib's three columns; or a TREC run.",
)  # fmt: skip
@options.convention_of("standard")
@options.format_of("official", "csv", help="The official tool's own output, or CSV.")
@click.option("--per-query", is_flag=True, help="Every query's values, not only their means.")
@options.null
def score(
    data: Path | None, qrels: Path | None, scores: Path, convention: str, form: str,
    per_query: bool, null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or a TREC run against qrels."""
    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.checks import check_convention
    from letorbench.datasets.reader import ReadOptions, read_queries
    from letorbench.measures import default_measures, query_metrics
    from letorbench.results.external import read_any, read_qrels
    from letorbench.results.official import official
    from letorbench.results.per_query import mean_of

    if (data is None) == (qrels is None):
        raise UsageError("expected one of --data and --qrels")
    if data is not None:
        queries = read_queries(data, ReadOptions(null=null, clip=True))
    elif qrels is not None:
        queries = read_qrels(qrels)
    largest, chosen = int(queries.labels.max(initial=0)), options.given("convention")
    doubt = check_convention(queries.n_features, largest, convention, chosen)
    if doubt:
        complain([f"{data or qrels}: {doubt}"], "warning")
    rules, values = convention_named(convention), read_any(scores, queries)
    if rules.empty == "drop" and largest < rules.relevant:
        complain([f"{data or qrels}: no query counts by {convention}: no value"], "warning")
    if form == "official":
        text = official(queries.qids, queries.labels, values, queries.offsets, rules, per_query)
        say(text, nl=False)
        return
    measures = default_measures(rules)
    table = query_metrics(queries.labels, values, queries.offsets, measures, rules)
    means = mean_of(table, axis=0)
    rows = [[convention, "mean", *means.tolist()]]
    if per_query:
        queries_rows = zip(queries.qids.tolist(), table.tolist())
        rows = [*([convention, qid, *row] for qid, row in queries_rows), *rows]
    show(data_table(["convention", "qid", *map(str, measures)], rows), "csv")
