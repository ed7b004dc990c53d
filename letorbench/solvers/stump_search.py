"""The best decision stump for given document weights: the boosters' weak learner.

By "misclassification" that is the stump f of values 0 and 1 with the largest sum_i w_i f(x_i). By
"gini" and "entropy" it is the stump of least impurity, as CART fits one: a document has the class
sign(w) and the weight |w|. A leaf whose classes weigh p and n has the impurity 2 p n / (p + n) by
"gini" and p ln((p + n) / p) + n ln((p + n) / n) by "entropy" (Breiman, Friedman, Olshen, Stone:
Classification and Regression Trees, 1984). Each leaf has the class that weighs more. A cut whose
leaves have the same class, or one of no class, is no classifier and is skipped.

`stump_search` prepares the features once, before the first round: it replaces values by the numbers
of bins. A round sums the positive and the negative weights of each bin. With a given number of
bins, thresholds lie between bins (`BinnedFeatures`). Otherwise there are about as many thresholds
as documents, and sums for all of them do not fit the processor's caches. So the documents of each
feature are sorted once and cut into at most `COARSE` bins (`SortedFeatures`), and most thresholds
are excluded:

1. Bound the cuts inside a bin. As weights move to the leaf of their class, a stump becomes better.
   So a cut inside a bin is at most as good as one that parts the bin's positive weights from its
   negative ones.
2. Try the cuts inside the bins that may hold the best one by these bounds, in the order of the
   documents' values.

Either way, the features that are the best up to rounding are searched again in plain NumPy, each by
sums in the order of its values. Of stumps that are equal up to rounding, the first feature's is
taken, by impurity its lowest cut.

Rounding excludes nothing: a sum of n weights in any order is computed with an error of less than
n * 2^-52 * sum |w|, and only what is worse by `SLACK` such errors is excluded.
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

#: criteria of a stump; compiled code numbers them in this order. The errors that rounding may make:
#: where p is near 0, an impurity changes up to 40 times as much as p
SLACK = {"misclassification": 16.0, "gini": 64.0, "entropy": 64.0}
SUM, GINI, _ = range(3)
#: a tree of values 0 and 1, its values (n_docs,) bool, and the sum of weights where it is 1
BestTree = tuple[Tree, np.ndarray, float]
#: finds the best stump for weights (n_docs,) of any sign, None if no sum of weights is positive
Search = Callable[[np.ndarray], BestTree | None]


def stump_search(
    features: np.ndarray, bins: int | None, criterion: str = "misclassification"
) -> Search:
    """Prepare features (n_docs, n_features) in `bins` <= 256 bins; None tries every threshold."""
    searched: SortedFeatures | BinnedFeatures
    searched = SortedFeatures.of(features) if bins is None else BinnedFeatures.of(features, bins)
    if criterion == "misclassification":
        return partial(largest_stump, searched)
    return partial(purest_stump, searched, criterion)


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


#: features in bins, whose thresholds inside bins are known or do not count
Searched = SortedFeatures | BinnedFeatures


class _Sums(NamedTuple):
    """The weights below cuts, and how good stumps are: the larger, the better."""

    criterion: int
    P: float  # the sum of all positive weights
    N: float  # and of all negative ones, without their sign
    total: float  # P - N
    slack: float  # how much rounding may change a sum or an impurity
    before: np.ndarray  # (n_features, COARSE, 2), the weights p and n below each bin
    bound: np.ndarray  # (n_features, COARSE), of the cuts inside the bin; -inf without cuts
    best: np.ndarray  # (n_features,), of the cuts tried so far; -inf without a classifier


def _tried(searched: Searched, criterion: str, weights: np.ndarray, P: float, N: float) -> _Sums:
    """Try the cuts between bins, and those inside the bins that may hold the best one."""
    shape = len(searched.codes), COARSE
    several = np.zeros(shape, np.bool_)
    if isinstance(searched, SortedFeatures):
        several = searched.several
    slack = SLACK[criterion] * len(weights) * 2.0**-52 * (P + N)
    before, bound, best = np.empty((*shape, 2)), np.empty(shape), np.empty(len(several))
    sums = _Sums(list(SLACK).index(criterion), P, N, P - N, slack, before, bound, best)

    def between_bins(start: int, stop: int) -> None:
        first, last = TOGETHER * start, min(TOGETHER * stop, len(several))
        _try_bins(searched.codes, searched.n_bins, several, weights, first, last, sums)

    groups = -(-len(several) // TOGETHER)
    parallel_for(between_bins, groups, max(1, LEAST // (TOGETHER * max(1, len(weights)))))
    if isinstance(searched, SortedFeatures):
        wanted = best.max(initial=-np.inf) - slack
        features = np.flatnonzero((bound >= wanted).any(axis=1))
        sizes = np.diff(searched.starts[features])
        cost = np.where(bound[features] >= wanted, sizes, 0).sum(axis=1)

        def inside_bins(start: int, stop: int) -> None:
            some = features[start:stop]
            _try_inside(some, searched.rows, searched.starts, weights, wanted, sums)

        least = 1 + LEAST * len(features) // (1 + int(cost.sum()))
        parallel_for(inside_bins, len(features), least, cost)
    return sums


def largest_stump(searched: Searched, weights: np.ndarray) -> BestTree | None:
    """Find the stump with the largest sum; of equal ones up to rounding, take the first."""
    total, size = float(weights.sum()), float(np.abs(weights).sum())
    sums = _tried(searched, "misclassification", weights, (size + total) / 2, (size - total) / 2)
    best, direction, most = None, False, 0.0
    largest = sums.best.max(initial=0.0)
    for k in np.flatnonzero((sums.best > 0.0) & (sums.best >= largest - sums.slack)).tolist():
        below = searched.sums_below(k, weights)
        low, high = int(below.argmax()), int(below.argmin())
        for cut, above, value in (low, False, below[low]), (high, True, total - below[high]):
            if value > most + sums.slack:
                best, direction, most = (k, cut), above, float(value)
    return None if best is None else (*stump(best[0], direction, *searched.split(*best)), most)


def purest_stump(searched: Searched, criterion: str, weights: np.ndarray) -> BestTree | None:
    """Find the stump of least impurity: up to rounding, the first feature's lowest cut."""
    p, n = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    P, N = float(p.sum()), float(n.sum())
    sums = _tried(searched, criterion, weights, P, N)
    most = sums.slack - sums.best.max(initial=-np.inf)
    for k in np.flatnonzero(np.isfinite(sums.best) & (-sums.best <= most)).tolist():
        p_below, n_below = searched.sums_below(k, p), searched.sums_below(k, n)
        p_above, n_above = np.maximum(0.0, P - p_below), np.maximum(0.0, N - n_below)
        total = impurity(p_below, n_below, criterion) + impurity(p_above, n_above, criterion)
        below, above = p_below - n_below, p_above - n_above
        parted = (np.minimum(below, above) < -sums.slack) & (np.maximum(below, above) > sums.slack)
        for cut in np.flatnonzero(parted & (total <= most))[:1].tolist():
            eta = float(max(below[cut], above[cut]))
            return *stump(k, bool(above[cut] > 0.0), *searched.split(k, cut)), eta
    return None


def impurity(p: np.ndarray, n: np.ndarray, criterion: str) -> np.ndarray:
    """Return the impurity of leaves whose two classes weigh p and n, times their weights p + n."""
    whole = np.where(p + n > 0.0, p + n, 1.0)
    if criterion == "gini":
        return 2.0 * p * (n / whole)
    of_p, of_n = (x * np.log(np.where(x > 0.0, x / whole, 1.0)) for x in (p, n))
    return -(of_p + of_n)


@kernel()
def _try_bins(
    codes: np.ndarray, n_bins: np.ndarray, several: np.ndarray, weights: np.ndarray, begin: int,
    end: int, sums: _Sums,
) -> None:  # fmt: skip
    """Fill `sums` for the features begin..end - 1 and try the cuts between bins."""
    bins = np.empty((TOGETHER, 2 * COARSE))
    for first in range(begin, end, TOGETHER):
        bins[:] = 0.0
        _fill(codes, first, min(first + TOGETHER, end) - 1, weights, bins)
        for k in range(first, min(first + TOGETHER, end)):
            p, n, best = 0.0, 0.0, -np.inf
            for c in range(n_bins[k]):
                more_p, more_n = p + bins[k - first, c], n - bins[k - first, COARSE + c]
                sums.bound[k, c] = -np.inf
                if several[k, c]:
                    sums.bound[k, c] = max(_value(more_p, n, sums), _value(p, more_n, sums))
                sums.before[k, c, 0], sums.before[k, c, 1] = p, n
                p, n = more_p, more_n
                if c + 1 < n_bins[k] and _is_classifier(p, n, sums):
                    best = max(best, _value(p, n, sums))
            sums.bound[k, n_bins[k] :] = -np.inf
            sums.best[k] = best


@kernel()
def _fill(codes: np.ndarray, first: int, last: int, weights: np.ndarray, bins: np.ndarray) -> None:
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
    features: np.ndarray, rows: np.ndarray, starts: np.ndarray, weights: np.ndarray, wanted: float,
    sums: _Sums,
) -> None:  # fmt: skip
    """Try the cuts inside the bins of these features whose bound is at least `wanted`."""
    for k in features:
        best, bound = sums.best[k], sums.bound[k]
        for c in range(len(bound)):
            if bound[c] < wanted or bound[c] == -np.inf:
                continue
            p, n = sums.before[k, c]
            for entry in rows[k, starts[k, c] : starts[k, c + 1]]:
                w = weights[entry & ROW]
                p += max(w, 0.0)
                n += max(-w, 0.0)
                if entry & CUT and _is_classifier(p, n, sums):
                    best = max(best, _value(p, n, sums))
        sums.best[k] = best


@kernel()
def _value(p: float, n: float, sums: _Sums) -> float:
    """Return the larger sum of the cut with p and n below it, or minus its impurity."""
    if sums.criterion == SUM:
        return max(p - n, sums.total - (p - n))
    p_above, n_above = max(0.0, sums.P - p), max(0.0, sums.N - n)
    return -(_impurity(p, n, sums.criterion) + _impurity(p_above, n_above, sums.criterion))


@kernel()
def _impurity(p: float, n: float, criterion: int) -> float:
    whole = p + n
    if p == 0.0 or n == 0.0:
        return 0.0
    if criterion == GINI:
        return 2.0 * p * (n / whole)
    return -(p * np.log(p / whole) + n * np.log(n / whole))


@kernel()
def _is_classifier(p: float, n: float, sums: _Sums) -> bool:
    """Return whether the leaves of a cut have different classes, which only impurity asks for."""
    if sums.criterion == SUM:
        return True
    below, above = p - n, sums.total - (p - n)
    return min(below, above) < -sums.slack and max(below, above) > sums.slack
