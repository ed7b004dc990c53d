"""What a measure is on average over all orders of a query's documents, each as likely.

It is what a ranker without any knowledge reaches. With m documents, R of them relevant, N = m - R
and the gains G, the expectations are

    NDCG@k    mean(G) sum_{i <= k} D(i) / Z@k
    P@k, WTA  each rank holds a relevant document with the chance R / m
    AP        1/m sum_{i <= m} (1 + (i - 1) (R - 1) / (m - 1)) / i
    RR        sum_i P(the first relevant document is at i) / i
    ERR@k     sum_{i <= k} (p_{i-1} - p_i) / i, where p_i is the mean over all sets of i documents
              of the product of their 1 - R(r): the chance to read on after i of them
    pairwise  1/2, as auc
    bpref     1 - mean over x = 0..N of min(x, R) / min(R, N): how many irrelevant documents stand
              above a relevant one is uniform

under the rules of the convention for short lists and for queries without a relevant document. A
measure without an entry is averaged over `DRAWN` random orders.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache

import numpy as np

from letorbench.conventions import Convention
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio

#: the random orders that stand for all of them where no sum is known
DRAWN = 1_000

Expectation = Callable[[Rankings, "int | None"], np.ndarray]


def random_order_metrics(
    labels: np.ndarray, offsets: np.ndarray, measures: Sequence[Measure], convention: Convention
) -> np.ndarray:
    """Measure every query by the mean over all orders of its documents.

    Parameters
    ----------
    labels : ndarray of shape (n_docs,), integers >= 0
    offsets : ndarray of shape (n_queries + 1,), int64
    measures : sequence of Measure
    convention : Convention
        The measuring rules.

    Returns
    -------
    ndarray of shape (n_queries, n_measures), float64
    """
    largest = max(convention.max_label or 0, int(np.max(labels, initial=0)))
    rankings = Rankings(
        np.asarray(labels, np.int32),
        np.require(offsets, np.int64, ["C", "W"]),
        replace(convention, max_label=largest),
    )
    values = np.empty((len(offsets) - 1, len(measures)))
    for column, measure in enumerate(measures):
        expectation = EXPECTATIONS.get(measure.name)
        if expectation is not None:
            values[:, column] = expectation(rankings, measure.cutoff)
        else:
            values[:, column] = _drawn(rankings, measure)
    return values


def _drawn(rankings: Rankings, measure: Measure) -> np.ndarray:
    """Return the mean over `DRAWN` random orders, which are always the same ones."""
    rng = np.random.default_rng(0)
    total = np.zeros(len(rankings.lengths))
    for _ in range(DRAWN):
        scores = rng.random(len(rankings.labels))
        total += measure(
            Rankings.of(rankings.labels, scores, rankings.offsets, rankings.convention)
        )
    return total / DRAWN


def _discounts(rankings: Rankings) -> np.ndarray:
    """(longest + 1,): sums of D over the ranks 1..k."""
    longest = int(rankings.lengths.max(initial=0))
    return np.append(0.0, np.cumsum(rankings.convention.discount(np.arange(1, longest + 1))))


def _mean_gain(rankings: Rankings) -> np.ndarray:
    return ratio(rankings.sums(2.0**rankings.labels - 1.0, rankings.offsets), rankings.lengths)


def _ndcg(rankings: Rankings, k: int | None) -> np.ndarray:
    rank = rankings.lengths if k is None else np.minimum(rankings.lengths, k)
    dcg = _mean_gain(rankings) * _discounts(rankings)[rank]
    values = ratio(dcg, rankings.at(rankings.ideal_dcg, k))
    return values if rankings.convention.short_ndcg else rankings.zero_if_short(values, k)


def _mean_ndcg(rankings: Rankings, k: int | None) -> np.ndarray:
    first = np.repeat(rankings.offsets[:-1], rankings.lengths)
    rank = np.arange(1, len(rankings.labels) + 1) - first
    dcg = np.repeat(_mean_gain(rankings), rankings.lengths) * _discounts(rankings)[rank]
    values = ratio(dcg, rankings.ideal_dcg)
    return ratio(rankings.sums(values, rankings.offsets), rankings.lengths)


def _precision(rankings: Rankings, k: int) -> np.ndarray:
    values = ratio(rankings.relevant, rankings.lengths) * np.minimum(rankings.lengths, k) / k
    return values if rankings.convention.short_p else rankings.zero_if_short(values, k)


def _average_precision(rankings: Rankings, k: int | None) -> np.ndarray:
    m, R = rankings.lengths, rankings.relevant
    longest = int(m.max(initial=0))
    harmonic = np.append(0.0, np.cumsum(1.0 / np.arange(1, longest + 1)))[m]
    others = (R - 1) / np.maximum(m - 1, 1)
    return np.where(R > 0, ratio(harmonic + others * (m - harmonic), m), 0.0)


def _reciprocal_rank(rankings: Rankings, k: int | None) -> np.ndarray:
    return np.array([_first(m, R) for m, R in zip(rankings.lengths, rankings.relevant)])


@lru_cache(maxsize=100_000)
def _first(m: int, R: int) -> float:
    """The mean reciprocal rank of the first of R relevant documents among m."""
    value, none_yet = 0.0, 1.0
    for i in range(1, m - R + 2 if R else 1):
        chance = none_yet * R / (m - i + 1)
        value += chance / i
        none_yet -= chance
    return value


def _err(rankings: Rankings, k: int | None) -> np.ndarray:
    on = 1.0 - (2.0 ** np.arange(rankings.levels) - 1.0) / 2.0**rankings.convention.max_label
    values = np.zeros(len(rankings.lengths))
    for q, (begin, m) in enumerate(zip(rankings.offsets, rankings.lengths)):
        depth = m if k is None else min(m, k)
        read_on = np.zeros(depth + 1)  # p of the documents so far
        read_on[0] = 1.0
        i = np.arange(1, depth + 1)
        for j, label in enumerate(rankings.labels[begin : begin + m], 1):
            # document j is in a random set of i of the first j with the chance i / j
            with_it = on[label] * read_on[:-1]
            read_on[1:] = np.where(i <= j, ((j - i) * read_on[1:] + i * with_it) / j, 0.0)
        values[q] = (-np.diff(read_on) / i).sum()
    return values


def _bpref(rankings: Rankings, k: int | None) -> np.ndarray:
    R = rankings.relevant.astype(np.float64)
    N = rankings.lengths - R
    least = np.minimum(R, N)
    total = least * (least + 1.0) / 2.0 + R * np.maximum(N - R, 0.0)
    return np.where(R > 0, 1.0 - ratio(total, least * (N + 1.0)), 0.0)


#: the measures whose expectation is a sum
EXPECTATIONS: Mapping[str, Expectation] = {
    "ndcg": _ndcg,
    "mean-ndcg": _mean_ndcg,
    "p": _precision,
    "wta": lambda rankings, k: ratio(rankings.relevant, rankings.lengths),
    "map": _average_precision,
    "mrr": _reciprocal_rank,
    "err": _err,
    "pairwise": lambda rankings, k: 0.5 * (rankings.correct_pairs[1] > 0),
    "auc": lambda rankings, k: 0.5 * (rankings.relevant % np.maximum(rankings.lengths, 1) > 0),
    "bpref": _bpref,
}
