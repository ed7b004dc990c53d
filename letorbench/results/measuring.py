"""The measures of a fold's scores by a convention."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import Fold, QuerySet
from letorbench.measures import Measure, default_measures, query_metrics
from letorbench.measures.evaluation import relative_weights
from letorbench.results.per_query import PerQuery

#: the ranker whose numbers are means over all orders of a query, not those of the file's order
RANDOM = "random"
#: the ranker that reads the labels by which it is measured
IDEAL = "ideal"


def competes(algo: str) -> bool:
    """Return whether an algorithm's row is ranked and compared: `ideal` reads the test labels."""
    return algo.partition("[")[0] != IDEAL


def measured(
    algo: str,
    scores: np.ndarray,
    test: QuerySet,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure an algorithm's scores of a test part, (n_queries, n_measures)."""
    # the scores of `random` are equal; its numbers are means over all orders of a query
    if algo == RANDOM:
        convention = replace(convention, ties="mean")
    return query_metrics(test.labels, scores, test.offsets, measures, convention, test.docids)


def measure_fold(
    algo: str,
    fold: Fold,
    scores: np.ndarray,
    convention: Convention,
    added: Sequence[Measure] = (),
) -> PerQuery:
    """Measure finite scores (n_docs,) of a fold's test part by the usual and the added measures."""
    usual = default_measures(convention)
    measures = [*usual, *added]
    table = measured(algo, scores, fold.test, measures, convention)
    counts = ~np.isnan(table).all(axis=1)  # the queries that the convention counts
    values = {str(measure): column for measure, column in zip(measures, table[counts].T)}
    numbers = np.full(counts.sum(), fold.number, dtype=np.int64)
    weights = None
    if convention.mean != "plain":
        ends = [len(usual) - 1, 0]  # NDCG, the first, may have other weights than the last
        about = fold.test.weights, convention, fold.test.labels, fold.test.offsets
        weights = relative_weights(table[:, ends], [usual[n] for n in ends], *about)[counts].T
    return PerQuery(algo, numbers, fold.test.qids[counts], values, weights)
