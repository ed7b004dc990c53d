"""Measures that a run did not store, from its stored scores and the data: nothing is retrained."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import Measure, parse, query_metrics
from letorbench.measures.random_order import random_order_metrics
from letorbench.results.per_query import PerQuery
from letorbench.results.score_frames import data_of
from letorbench.results.stored_folds import by_repeat, joined_queries
from letorbench.results.summary import Row, Summary, require_folds

#: the ranker whose numbers are means over all orders of a query, not those of the file's order
RANDOM = "random"


def with_measures(
    out: Path, data_dir: Path, dataset: str, algo: str, measures: Sequence[str]
) -> PerQuery:
    """Return an algorithm's per-query values with at least these measures.

    What the folds' files do not hold is measured from their scores, under the run's convention.

    Parameters
    ----------
    out, data_dir : Path
        The folders of the results and of the data sets.
    dataset, algo : str
        Their names.
    measures : sequence of str
        The measures, as text.

    Raises
    ------
    DataError
        A measure has to be computed, and the data now there are not those of the run.
    """
    folds = require_folds(out, dataset, algo)
    found = joined_queries(folds)
    wanted = [name for name in dict.fromkeys(measures) if name not in found.values]
    if not wanted:
        return found
    benchmark = data_of(data_dir, dataset, folds)
    tests = {fold.number: fold.test for fold in benchmark.folds}
    asked = [parse(name) for name in wanted]
    repeats = []
    for repeat in by_repeat(folds):
        parts = []
        for fold in repeat:
            test, rules = tests[fold.number], benchmark.convention
            scores = fold.scores(test.n_docs)
            parts.append(measured(algo, scores, test, asked, rules))
        repeats.append(np.concatenate(parts))
    # (n_measures, n_repeats, n_queries)
    added = dict(zip(wanted, np.stack(repeats).transpose(2, 0, 1)))
    values = {name: table.mean(axis=0) for name, table in added.items()}
    repeated = {**found.repeated, **added} if len(repeats) > 1 else {}
    return replace(found, values={**found.values, **values}, repeated=repeated)


def measured(
    algo: str,
    scores: np.ndarray,
    test: QuerySet,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure an algorithm's scores of a test part, (n_queries, n_measures).

    The numbers of `random` are the means over all orders of each query's documents.
    """
    if algo == RANDOM:
        return random_order_metrics(test.labels, test.offsets, measures, convention)
    return query_metrics(test.labels, scores, test.offsets, measures, convention)


def extended(out: Path, data_dir: Path, summary: Summary, measures: Sequence[str]) -> Summary:
    """Return the summary with these measures in every row, computed where not stored."""

    def row(each: Row) -> Row:
        missing = [name for name in measures if name not in each.values]
        if not missing:
            return each
        found = with_measures(out, data_dir, summary.dataset, each.algo, missing)
        values = each.values | {name: found.mean(name) for name in missing}
        if not each.repeated:
            return replace(each, values=values)
        repeated = {**each.repeated, **{name: found.means(name) for name in missing}}
        return replace(each, values=values, repeated=repeated)

    return replace(summary, rows=tuple(row(each) for each in summary.rows))
