"""`letorbench score`: a score file against a test file, as the official tools do it."""

from __future__ import annotations

from pathlib import Path

import click
from click.core import ParameterSource

from letorbench.cli import options
from letorbench.cli.group import complain

FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command()
@click.option("--data", type=FILE, help="A test file of LETOR text.")
@click.option("--qrels", type=FILE, help="A TREC qrels file instead.")
@click.option(
    "--scores", required=True, type=FILE,
    help="One score a line, in the file's order; or RankLib's three columns; or a TREC run.",
)
@click.option(
    "--convention", default="standard", show_default=True,
    type=options.ConventionName(),
    help="Whose measuring rules.",
)
@click.option(
    "--format", "form", default="official", show_default=True,
    type=click.Choice(["official", "csv"]),
    help="The official tool's own output, or CSV.",
)
@click.option("--per-query", is_flag=True, help="Every query's values, not only their means.")
@options.null
def score(
    data: Path | None,
    qrels: Path | None,
    scores: Path,
    convention: str,
    form: str,
    per_query: bool,
    null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or a TREC run against qrels."""
    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.convention_check import check_convention
    from letorbench.datasets.reader import ReadOptions, read_queries
    from letorbench.measures.official import official
    from letorbench.results.score_formats import read_any
    from letorbench.results.trec import read_qrels

    rules = convention_named(convention)
    source = click.get_current_context().get_parameter_source("convention")
    chosen = source is not ParameterSource.DEFAULT
    if (data is None) == (qrels is None):
        raise click.UsageError("expected one of --data and --qrels")
    queries = read_queries(data, ReadOptions(null=null)) if data else read_qrels(qrels)
    largest = int(queries.labels.max(initial=0))
    text = check_convention(queries.n_features, largest, convention, chosen)
    if text:
        complain([f"{data or qrels}: {text}"], "warning")
    values = read_any(scores, queries)
    if form == "official":
        found = (queries.qids, queries.labels, values, queries.offsets)
        click.echo(official(*found, rules, per_query), nl=False)
        return
    from letorbench.measures import default_measures, query_metrics

    measures = default_measures(rules)
    table = query_metrics(queries.labels, values, queries.offsets, measures, rules)
    click.echo(",".join(["convention", "qid", *map(str, measures)]))
    if per_query:
        for qid, row in zip(queries.qids.tolist(), table.tolist()):
            click.echo(",".join([convention, str(qid), *map(repr, row)]))
    click.echo(",".join([convention, "mean", *map(repr, table.mean(axis=0).tolist())]))
