"""From scores in file order to every query's value of every measure."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.errors import DataError
from letorbench.measures.convention import Convention
from letorbench.measures.rankings import Rankings
from letorbench.measures.registry import Measure


def evaluate(
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure every query: (n_queries, n_measures) float64.

    labels (n_docs,) integers >= 0 and scores (n_docs,), both in file order; query q owns the
    rows offsets[q]:offsets[q + 1]. Equal scores rank in file order. DataError for NaN scores
    and for scores, labels and offsets that do not fit each other.
    """
    scores = np.require(scores, np.float64, ["C", "W"])
    if not (scores.shape == np.shape(labels) == (offsets[-1],)):
        raise DataError(
            f"found {len(scores)} scores and {len(labels)} labels, expected one of each "
            f"for the {offsets[-1]} documents"
        )
    nan = np.isnan(scores)
    if nan.any():
        raise DataError(f"scores: found NaN for document {nan.argmax() + 1}, expected numbers")
    rankings = Rankings.of(labels, scores, offsets, convention)
    values = np.empty((len(offsets) - 1, len(measures)))
    for column, measure in enumerate(measures):
        values[:, column] = measure(rankings)
    return values


def default_measures(convention: Convention) -> list[Measure]:
    """What an experiment stores for every query, in this order.

    The cut-offs end where the convention's tool does, and at 10.
    """
    cutoffs = range(1, min(convention.cutoffs, 10) + 1)
    return [
        *(Measure("ndcg", k) for k in cutoffs),
        *(Measure("p", k) for k in cutoffs),
        Measure("map"),
        Measure("mrr"),
        Measure("err", 10),
        Measure("mean-ndcg"),
        Measure("wta"),
        Measure("pairwise"),
        Measure("bpref"),
    ]
