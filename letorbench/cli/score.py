"""`letorbench score`: score files against a test file, or TREC runs against qrels."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from letorbench.analysis.tables import Column, table
from letorbench.cli import options
from letorbench.cli.group import complain, say, show
from letorbench.errors import DataError, UsageError

#: what is shown of runs unless told otherwise
OF_RUNS = "map,mrr,p@10,ndcg@10,recall@100,rprec,bpref"

if TYPE_CHECKING:
    from letorbench.datasets.user_data.tables import Columns


@click.command()
@click.option("--data", type=options.FILE, help="A test file: LETOR text, a table, …")
@click.option("--qrels", type=options.FILE, help="A TREC qrels file instead.")
@click.option(
    "--scores", type=options.FILE,
    help="One score a line, in the file's order; or RankLib's three columns; or a TREC run, which "
    "has every document.",
)  # fmt: skip
@options.runs
@options.measures("Repeat, or comma lists.  [default: the convention's; of runs the usual ones]")
@options.convention_of(
    "auto", "auto", help="Whose measuring rules; auto: standard, of runs trec_eval."
)
@options.format_of("official", "text", "csv", help="The official tool's own output, or a table.")
@click.option("--per-query", is_flag=True, help="Every query's values, not only their means.")
@options.table_columns
@options.null
@options.plugin
def score(
    data: Path | None, qrels: Path | None, scores: Path | None, runs: tuple[Path, ...],
    measures: tuple[str, ...], convention: str, form: str, per_query: bool,
    columns: Columns, null: str | float,
) -> None:  # fmt: skip
    """Measure a score file against a test file, or TREC runs against qrels.

    Of a run, documents without a judgement are not relevant, and judged ones that it does not have
    count as missed. trec_eval leaves queries without results out of the mean;
    --convention trec_eval,missing=0 counts them (its -c), trec_eval,depth=100 ends every list at
    rank 100 (its -M), trec_eval,unjudged=drop leaves documents without a judgement out (its -J).
    Official output is that of the LETOR tools; --measure and --run print a table instead.
    """
    import numpy as np

    from letorbench.api.measuring import measures_of
    from letorbench.conventions import CONVENTIONS, RULES, with_rules
    from letorbench.conventions import convention as convention_named
    from letorbench.datasets.checks import check_convention
    from letorbench.datasets.reader import ReadOptions
    from letorbench.datasets.user_data.read import read_documents
    from letorbench.measures import default_measures, query_metrics
    from letorbench.measures.evaluation import shares
    from letorbench.results.external import measure_runs, read_qrels, read_scores_of
    from letorbench.results.official import official
    from letorbench.results.per_query import mean_of

    if (data is None) == (qrels is None):
        raise UsageError("expected one of --data and --qrels")
    if (scores is None) == (not runs) or (runs and qrels is None):
        raise UsageError("expected --scores, or --run with --qrels")
    if (measures or runs) and form == "official":
        if options.given("form"):
            raise UsageError("--format official does not go with --measure and --run")
        form = "text"
    chosen = convention != "auto"
    if not chosen:
        convention = "trec_eval" if runs else "standard"
    rules, judgements = convention_named(convention), data or qrels
    assert judgements is not None
    if runs:
        asked = measures_of(measures or OF_RUNS)
        if not chosen and any(not each.source and rules.apart(str(each)) is None for each in asked):
            # trec_eval does not compute one of them: its rules, not in its name, measure all
            own = {rule: getattr(rules, rule) for rule in RULES}
            rules = with_rules(CONVENTIONS["standard"], **own)
        systems, notes = measure_runs(judgements, runs, asked, rules)
        complain(notes, "warning")
        about: tuple[Any, ...] = (None, rules, np.zeros(0), np.zeros(1, np.int64))
        found = [(each.algo, each.qids, np.stack([*each.values.values()], 1)) for each in systems]
    else:
        assert scores is not None
        options_of = ReadOptions(null=null, clip=True)
        read = read_documents(data, options_of, columns) if data else None
        queries = read or read_qrels(judgements)
        largest, given = int(queries.labels.max(initial=0)), options.given("convention")
        doubt = check_convention(queries.n_features, largest, convention, given)
        if doubt:
            complain([f"{judgements}: {doubt}"], "warning")
        values, own = read_scores_of(scores, queries), (queries.offsets, rules)
        if form == "official":
            text = official(
                queries.qids, queries.labels, values, *own, per_query, queries.docids,
                queries.weights,
            )  # fmt: skip
            say(text, nl=False)
            return
        asked = measures_of(measures) if measures else default_measures(rules)
        found_values = query_metrics(
            queries.labels, values, queries.offsets, asked, rules, queries.docids
        )
        if np.isnan(found_values).all():
            raise DataError(f"{judgements}: found no query that counts by {rules.name}")
        called = queries.qids if queries.query_names is None else queries.query_names
        found = [(scores.stem, called, found_values)]
        about = queries.weights, rules, queries.labels, queries.offsets
    rows = []
    for name, qids, values in found:
        counts = ~np.isnan(values).all(axis=1)
        share = shares(values, asked, *about)
        lines = [("mean", mean_of((values * share)[counts], axis=0).tolist())]
        if per_query:
            lines = [*zip(qids[counts].tolist(), values[counts].tolist()), *lines]
        rows += [(rules.name, name, int(counts.sum()), qid, *row) for qid, row in lines]
    heads = (
        Column(name="convention"),
        Column("run", "left", "run" if runs else ""),
        Column("queries", form="d"),
        Column("qid" if per_query else "", "left", "qid"),
        *(Column(str(each), name=str(each), form=".4f") for each in asked),
    )
    show(table(f"{judgements}: measures {rules.description} [{rules.name}]", heads, rows), form)
