"""The best of all decision stumps, at every threshold of every feature, by excluding most of them.

With about as many distinct values as documents, histograms of all values are larger than the
processor's caches. Here the documents of each feature are sorted once and cut into at most
`COARSE` bins. A search has three steps:

1. Each coarse bin's positive and its negative weights are summed. At a cut inside a bin, the sum
   of the weights below is at most the sum before the bin plus the bin's positive weights, and at
   least the sum before the bin plus its negative ones.
2. The cuts inside the bins that may have the best of all sums by these bounds are tried, in the
   order of the documents' values.
3. The features that have the best sum by this, up to rounding, are searched as `best_stump` does,
   so that equally good ones are chosen as it does, to the last bit.

Rounding excludes nothing: a sum of n weights in any order is computed with an error of less than
n * 2^-52 * sum |w|, and only what is worse by `SLACK` = 16 such errors is excluded.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.jit import kernel
from letorbench.solvers.sorted_features import COARSE, CUT, ROW, SortedDocuments, SortedFeatures
from letorbench.solvers.stump_search import LEAST, TOGETHER, Stump, best_cut, scan
from letorbench.threads import parallel_for

SLACK = 16.0


class _Sums(NamedTuple):
    """What is known of the sums of weights on one side of a cut.

    Attributes
    ----------
    before : ndarray of shape (n_features, COARSE)
        The sum of the weights below each coarse bin.
    bound : ndarray of shape (n_features, COARSE)
        No cut inside the bin has a larger sum; -inf where there is none.
    highest : ndarray of shape (n_features,)
        The largest bound of a feature's bins.
    best : ndarray of shape (n_features,)
        The largest sum of a feature's cuts that have been tried.
    """

    before: np.ndarray
    bound: np.ndarray
    highest: np.ndarray
    best: np.ndarray


def best_of_all(
    ordered: SortedFeatures, weights: np.ndarray
) -> tuple[Stump, np.ndarray, float] | None:
    """Do as `best_stump` with a bin for every value."""
    documents, total = ordered.documents, float(weights.sum())
    found, most = None, 0.0
    for k in _possible(documents, weights, total):
        n_values = int(documents.n_values[k])
        histogram, sides = np.zeros(n_values + TOGETHER), np.empty(2)
        _fill_in_order(documents.rows[k], weights, histogram)
        scan(histogram, n_values, total, sides)
        above = bool(sides[1] > sides[0])
        if sides[int(above)] > most:
            most = float(sides[int(above)])
            found = int(k), best_cut(histogram, n_values, -1.0 if above else 1.0), above
    return None if found is None else (*ordered.stump(*found), most)


def _possible(documents: SortedDocuments, weights: np.ndarray, total: float) -> np.ndarray:
    """Return the features that have the best sum of all, up to rounding."""
    n_features, n_docs = documents.codes.shape
    sums = _Sums(*np.empty((2, n_features, COARSE)), *np.zeros((2, n_features)))
    searched = np.flatnonzero(documents.n_values > 1)

    def bound(start: int, stop: int) -> None:
        part = searched[TOGETHER * start : TOGETHER * stop]
        _bound(part, documents, weights, total, sums)

    parallel_for(bound, -(-len(searched) // TOGETHER), max(1, LEAST // (TOGETHER * n_docs)))
    slack = SLACK * n_docs * 2.0**-52 * float(np.abs(weights).sum())
    wanted = sums.best.max(initial=0.0) - slack
    hopeful = searched[sums.highest[searched] >= wanted]

    def refine(start: int, stop: int) -> None:
        _refine(hopeful[start:stop], documents, weights, total, wanted, sums)

    sizes = np.diff(documents.starts[hopeful])
    cost = np.where(sums.bound[hopeful] >= wanted, sizes, 0).sum(axis=1)
    parallel_for(refine, len(hopeful), 1 + LEAST * len(hopeful) // (1 + int(cost.sum())), cost)
    return searched[sums.best[searched] >= sums.best.max(initial=0.0) - slack]


@kernel()
def _bound(
    features: np.ndarray,
    documents: SortedDocuments,
    weights: np.ndarray,
    total: float,
    sums: _Sums,
) -> None:
    """Fill `sums` of these features; the cuts between two coarse bins are tried."""
    bins = np.empty((TOGETHER, 2 * COARSE))
    for first in range(0, len(features), TOGETHER):
        group = features[first : first + TOGETHER]
        bins[:] = 0.0
        _fill_coarse(documents.codes, group, weights, bins)
        for j in range(len(group)):
            k, below, best, highest = group[j], 0.0, 0.0, -np.inf
            for c in range(COARSE):
                if 0 < documents.starts[k, c] < len(weights):
                    best = max(best, max(below, total - below))
                positive, negative = bins[j, c], bins[j, COARSE + c]
                bound = max(below + positive, total - (below + negative))
                sums.before[k, c] = below
                sums.bound[k, c] = bound if documents.several[k, c] else -np.inf
                highest = max(highest, sums.bound[k, c])
                below += positive + negative
            sums.best[k], sums.highest[k] = best, highest


@kernel()
def _fill_coarse(
    codes: np.ndarray, features: np.ndarray, weights: np.ndarray, sums: np.ndarray
) -> None:
    """Add weights to the coarse bins of up to four features, negative ones COARSE further on."""
    last = len(features) - 1
    a, b = codes[features[0]], codes[features[min(1, last)]]
    c, d = codes[features[min(2, last)]], codes[features[min(3, last)]]
    for_a, for_b, for_c, for_d = sums[0], sums[1], sums[2], sums[3]
    for row in range(len(weights)):
        i = np.uint64(row)  # unsigned: no check for an index from the end
        w = weights[i]
        side = np.uint64(COARSE) if w < 0.0 else np.uint64(0)
        for_a[np.uint64(a[i]) | side] += w
        for_b[np.uint64(b[i]) | side] += w
        for_c[np.uint64(c[i]) | side] += w
        for_d[np.uint64(d[i]) | side] += w


@kernel()
def _refine(
    features: np.ndarray,
    documents: SortedDocuments,
    weights: np.ndarray,
    total: float,
    wanted: float,
    sums: _Sums,
) -> None:
    """Try the cuts inside the bins that have a bound of `wanted` or more."""
    for k in features:
        rows, best = documents.rows[k], sums.best[k]
        for c in range(COARSE):
            if sums.bound[k, c] >= wanted:
                below = sums.before[k, c]
                for p in range(documents.starts[k, c], documents.starts[k, c + 1]):
                    below += weights[rows[p] & ROW]
                    if rows[p] & CUT:
                        best = max(best, max(below, total - below))
        sums.best[k] = best


@kernel()
def _fill_in_order(rows: np.ndarray, weights: np.ndarray, histogram: np.ndarray) -> None:
    """Sum the weights of each value, in the order of the rows, as a histogram does."""
    value, value_sum = 0, 0.0
    for entry in rows:
        value_sum += weights[entry & ROW]
        if entry & CUT:
            histogram[value] = value_sum
            value, value_sum = value + 1, 0.0
