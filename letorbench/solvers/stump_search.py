"""The decision stump that agrees best with given document weights: the boosters' weak learner.

`stump_search` prepares the features once, before the first round: it replaces values by the numbers
of bins. A round sums the weights of each bin (`_coarse_sums`).

With a given number of bins, thresholds lie between bins (`BinnedFeatures`, `best_stump`).
Otherwise there are about as many thresholds as documents, and sums for all of them do not fit the
processor's caches. So the documents of each feature are sorted once and cut into at most `COARSE`
bins (`SortedFeatures`), and `best_of_all` excludes most thresholds:

1. Sum each coarse bin's positive and negative weights. At a cut inside a bin, the sum of the
   weights below is at most the sum before the bin plus the bin's positive weights, and at least the
   sum before the bin plus its negative ones.
2. Try the cuts inside the bins that may hold the best sum by these bounds, in the order of the
   documents' values.

Either way, the features whose sum is the best up to rounding are searched again, each by sums in
the order of its values, and the first of those that are equal up to rounding is chosen.

Rounding excludes nothing: a sum of n weights in any order is computed with an error of less than
n * 2^-52 * sum |w|, and only sums that are worse by `SLACK` = 16 such errors are excluded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for, run_tasks
from letorbench.datasets.arrays import float32_features
from letorbench.features.columns import (
    COARSE,
    GROUP,
    BinnedFeatures,
    bin_starts,
    contiguous_columns,
    number_bins,
    sorted_column,
)
from letorbench.models.tree_ensemble import Tree, stump

#: features whose bins are filled in one pass over the documents: independent chains of additions
#: hide the latency of adding to the same number again and again
TOGETHER = 4
#: additions worth a thread: handing over work costs as much as 200,000 additions
LEAST = 500_000
#: the bit of an entry of `SortedFeatures.rows` that is set if the next document's value is larger
CUT = np.uint32(1 << 31)
ROW = np.uint32(CUT - 1)

SLACK = 16.0
#: a tree of values 0 and 1, its values (n_docs,) bool, and the sum of weights where it is 1
BestTree = tuple[Tree, np.ndarray, float]
#: finds the stump f of values 0 and 1 that maximises sum_i w_i f(x_i), for weights (n_docs,) of any
#: sign. None if no sum is positive. Of equal stumps, the first feature's lowest cut is taken.
Search = Callable[[np.ndarray], BestTree | None]


def stump_search(features: np.ndarray, bins: int | None) -> Search:
    """Prepare features (n_docs, n_features) in `bins` <= 256 bins; None tries every threshold."""
    if bins is None:
        return partial(best_of_all, SortedFeatures.of(features))
    return partial(best_stump, BinnedFeatures.of(features, bins))


@dataclass(frozen=True, eq=False)
class SortedFeatures:
    """Each feature's documents in the order of their values, and in coarse bins."""

    features: np.ndarray  # (n_docs, n_features) float32
    # (n_features, n_docs) uint32, documents by value, then row; `CUT` if the next value is larger
    rows: np.ndarray
    codes: np.ndarray  # (n_features, n_docs) uint8, the coarse bins; equal values share a bin
    n_bins: np.ndarray  # (n_features,) int64, the number of coarse bins
    # (n_features, COARSE + 1) int64; feature k's bin c holds rows[k, starts[k, c]:starts[k, c + 1]]
    starts: np.ndarray
    several: np.ndarray  # (n_features, COARSE) bool, whether a coarse bin has more than one value

    @staticmethod
    def of(features: np.ndarray) -> "SortedFeatures":
        """Sort features (n_docs, n_features) of any real type, as float32."""
        features = float32_features(features)
        n_docs, n_features = features.shape
        ordered = SortedFeatures(
            features,
            np.empty((n_features, n_docs), np.uint32),
            np.empty((n_features, n_docs), np.uint8),
            np.empty(n_features, np.int64),
            np.empty((n_features, COARSE + 1), np.int64),
            np.empty((n_features, COARSE), np.bool_),
        )
        run_tasks([partial(ordered._sort, first) for first in range(0, n_features, GROUP)])
        return ordered

    def _sort(self, first: int) -> None:
        """Fill the part of `GROUP` features."""
        columns = contiguous_columns(self.features, first, first + GROUP)
        for k, column in enumerate(columns, first):
            values, rows = sorted_column(column + 0.0)  # -0.0 becomes 0.0
            value_starts = np.append(0, bin_starts(values))
            coarse = _coarse_starts(value_starts, len(rows))
            self.n_bins[k], starts = len(coarse), self.starts[k]
            starts[: len(coarse)], starts[len(coarse) :] = coarse, len(rows)
            self.several[k] = np.diff(np.searchsorted(value_starts, starts)) > 1
            number_bins(rows, coarse[1:], self.codes[k])
            self.rows[k] = rows
            self.rows[k, value_starts[1:] - 1] |= CUT

    def split(self, k: int, cut: int) -> tuple[float, np.ndarray]:
        """Return the threshold of a cut of feature k and whether each document is above it."""
        last = np.flatnonzero(self.rows[k] & CUT)[cut]
        rows = self.rows[k] & ROW
        low, high = self.features[rows[last : last + 2], k]
        above = np.zeros(len(rows), np.bool_)
        above[rows[last + 1 :]] = True
        return float((np.float64(low) + high) / 2.0), above

    def sums_below(self, k: int, weights: np.ndarray) -> np.ndarray:
        return weights[self.rows[k] & ROW].cumsum()[np.flatnonzero(self.rows[k] & CUT)]


def _coarse_starts(value_starts: np.ndarray, n_docs: int) -> np.ndarray:
    """Return the starts of a feature's coarse bins."""
    if len(value_starts) <= COARSE:
        return value_starts
    sizes = np.diff(value_starts, append=n_docs)
    # a bin holds the values that begin in one of equal parts; a value larger than a part is alone
    for parts in (COARSE, COARSE // 2):  # half as many always fit: half the bins may be values
        large = sizes * parts > n_docs
        begins = large | (np.diff(value_starts * parts // n_docs, prepend=-1) > 0)
        begins[1:] |= large[:-1]
        if begins.sum() <= COARSE:
            break
    return value_starts[begins]


class _Sums(NamedTuple):
    """Sums of weights on one side of a cut, and their bounds."""

    total: float  # of all weights
    before: np.ndarray  # (n_features, COARSE), the sum of the weights below each bin
    bound: np.ndarray  # (n_features, COARSE), of the sums at cuts inside the bin; -inf without cuts
    best: np.ndarray  # (n_features,), the largest sum of the cuts tried so far, at least 0
    slack: float  # how much rounding may change a sum


def _coarse_sums(
    codes: np.ndarray, n_bins: np.ndarray, several: np.ndarray, weights: np.ndarray
) -> _Sums:
    """Sum the weights in each feature's bins, and try the cuts between them."""
    total, shape = float(weights.sum()), several.shape
    slack = SLACK * len(weights) * 2.0**-52 * float(np.abs(weights).sum())
    sums = _Sums(total, np.empty(shape), np.empty(shape), np.empty(len(codes)), slack)

    def part(start: int, stop: int) -> None:
        first, last = TOGETHER * start, min(TOGETHER * stop, len(codes))
        _try_bins(codes, n_bins, several, weights, first, last, sums)

    least = max(1, LEAST // (TOGETHER * max(1, len(weights))))
    parallel_for(part, -(-len(codes) // TOGETHER), least)
    return sums


def best_stump(binned: BinnedFeatures, weights: np.ndarray) -> BestTree | None:
    """Find the best stump among the cuts between bins: a `Search`."""
    none = np.zeros((len(binned.codes), COARSE), np.bool_)
    return _first_best(binned, weights, _coarse_sums(binned.codes, binned.n_bins, none, weights))


def best_of_all(ordered: SortedFeatures, weights: np.ndarray) -> BestTree | None:
    """Find the best stump among all thresholds of all features: a `Search`."""
    sums = _coarse_sums(ordered.codes, ordered.n_bins, ordered.several, weights)
    wanted = sums.best.max(initial=0.0) - sums.slack
    features = np.flatnonzero(sums.bound.max(axis=1) >= wanted)
    cost = np.where(sums.bound[features] >= wanted, np.diff(ordered.starts[features]), 0).sum(
        axis=1
    )

    def part(start: int, stop: int) -> None:
        _try_inside(features[start:stop], ordered.rows, ordered.starts, weights, wanted, sums)

    parallel_for(part, len(features), 1 + LEAST * len(features) // (1 + int(cost.sum())), cost)
    return _first_best(ordered, weights, sums)


def _first_best(
    searched: BinnedFeatures | SortedFeatures, weights: np.ndarray, sums: _Sums
) -> BestTree | None:
    """Search the features with the best sum; of equal ones up to rounding, take the first."""
    best, direction, most = None, False, 0.0
    largest = sums.best.max(initial=0.0)
    for k in np.flatnonzero((sums.best > 0.0) & (sums.best >= largest - sums.slack)).tolist():
        below = searched.sums_below(k, weights)
        low, high = int(below.argmax()), int(below.argmin())
        for cut, above, value in (low, False, below[low]), (high, True, sums.total - below[high]):
            if value > most + sums.slack:
                best, direction, most = (k, cut), above, float(value)
    return None if best is None else (*stump(best[0], direction, *searched.split(*best)), most)


@kernel()
def _try_bins(
    codes: np.ndarray,
    n_bins: np.ndarray,
    several: np.ndarray,
    weights: np.ndarray,
    begin: int,
    end: int,
    sums: _Sums,
) -> None:
    """Fill `sums` for the features begin..end - 1 and try the cuts between bins."""
    bins = np.empty((TOGETHER, 2 * COARSE))
    for first in range(begin, end, TOGETHER):
        bins[:] = 0.0
        fill(codes, first, min(first + TOGETHER, end) - 1, weights, bins)
        for k in range(first, min(first + TOGETHER, end)):
            below, best = 0.0, 0.0
            for c in range(n_bins[k]):
                if c > 0:
                    best = max(best, max(below, sums.total - below))
                positive, negative = bins[k - first, c], bins[k - first, COARSE + c]
                bound = max(below + positive, sums.total - (below + negative))
                sums.before[k, c] = below
                sums.bound[k, c] = bound if several[k, c] else -np.inf
                below += positive + negative
            sums.bound[k, n_bins[k] :] = -np.inf
            sums.best[k] = best


@kernel()
def fill(codes: np.ndarray, first: int, last: int, weights: np.ndarray, bins: np.ndarray) -> None:
    """Add weights to the bins of the features first..last, negative ones to the second half."""
    a, b = codes[first], codes[min(first + 1, last)]
    c, d = codes[min(first + 2, last)], codes[min(first + 3, last)]
    for_a, for_b, for_c, for_d = bins[0], bins[1], bins[2], bins[3]
    for row in range(len(weights)):
        i = np.uint64(row)  # unsigned: no check for an index from the end
        w = weights[i]
        side = np.uint64(COARSE) if w < 0.0 else np.uint64(0)
        for_a[np.uint64(a[i]) | side] += w
        for_b[np.uint64(b[i]) | side] += w
        for_c[np.uint64(c[i]) | side] += w
        for_d[np.uint64(d[i]) | side] += w


@kernel()
def _try_inside(
    features: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    wanted: float,
    sums: _Sums,
) -> None:
    """Try the cuts inside the bins of these features whose bound is at least `wanted`."""
    for k in features:
        best, bound = sums.best[k], sums.bound[k]
        for c in range(len(bound)):
            if bound[c] < wanted:
                continue
            below = sums.before[k, c]
            for entry in rows[k, starts[k, c] : starts[k, c + 1]]:
                below += weights[entry & ROW]
                if entry & CUT:
                    best = max(best, max(below, sums.total - below))
        sums.best[k] = best
