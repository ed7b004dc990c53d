"""A score file against a test file, as the official tools do it."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from letorbench.conventions import convention as convention_named
from letorbench.datasets.checks import check_convention
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.errors import UsageError
from letorbench.measures import default_measures, query_metrics
from letorbench.measures.official import official
from letorbench.results.external import read_any, read_qrels


def read_judged(data: Path | None, qrels: Path | None, null: str | float = "error") -> QuerySet:
    """Read a test file of LETOR text or a TREC qrels file, whichever is given."""
    if (data is None) == (qrels is None):
        raise UsageError("expected one of --data and --qrels")
    return read_queries(data, ReadOptions(null=null)) if data else read_qrels(qrels)


def convention_doubt(queries: QuerySet, convention: str, chosen: bool) -> str | None:
    """Return a line where the data look like another convention's, else None."""
    largest = int(queries.labels.max(initial=0))
    return check_convention(queries.n_features, largest, convention, chosen)


def official_text(queries: QuerySet, scores: Path, convention: str, per_query: bool) -> str:
    """Return what the convention's official tool prints."""
    found = (queries.qids, queries.labels, read_any(scores, queries), queries.offsets)
    return official(*found, convention_named(convention), per_query)


def csv_text(queries: QuerySet, scores: Path, convention: str, per_query: bool) -> str:
    """Return every measure with every digit, of every query where asked, and the means."""
    rules = convention_named(convention)
    measures = default_measures(rules)
    values = read_any(scores, queries)
    table = query_metrics(queries.labels, values, queries.offsets, measures, rules)
    lines = [["convention", "qid", *map(str, measures)]]
    if per_query:
        for qid, row in zip(queries.qids.tolist(), table.tolist()):
            lines.append([convention, qid, *row])
    lines.append([convention, "mean", *table.mean(axis=0).tolist()])
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows(lines)
    return text.getvalue()
