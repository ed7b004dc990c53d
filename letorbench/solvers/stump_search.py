"""The decision stump that agrees best with given document weights: the boosters' weak learner.

`stump_search` prepares the features once, before the first round. There are two ways to search.

With bins, one histogram a feature is enough: each bin's sum of document weights, and running sums
over the bins. Features are therefore stored as bin numbers (`BinnedFeatures`, `best_stump`).

Without, there are about as many thresholds as documents, and such histograms are larger than the
processor's caches. The documents of each feature are sorted once and cut into at most `COARSE`
bins (`SortedFeatures`). `best_of_all` then excludes most thresholds, in three steps:

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

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.errors import UsageError
from letorbench.features.moments import contiguous_columns
from letorbench.jit import kernel
from letorbench.models.base import float32_features
from letorbench.threads import parallel_for, run_tasks

#: how many features' histograms are filled in one pass over the documents, and how many parts
#: of a histogram are summed side by side: independent chains of additions hide the latency of
#: adding to the same number again and again
TOGETHER = 4

#: additions that are worth a thread: to hand it its part costs as much as 200,000
LEAST = 500_000

#: features that are prepared at a time, whose values in a document are near each other in memory
GROUP = 8

#: with more bins than this, additions to the same bin in a row are rare enough
FEW = 256

#: the most coarse bins of a feature: their numbers take one byte
COARSE = 256
#: the bit of an entry of `SortedDocuments.rows` that says: the next document's value is larger
CUT = np.uint32(1 << 31)
ROW = np.uint32(CUT - 1)

SLACK = 16.0

#: a value's bits stand in the upper half of a sorting key of 64 bits, its row in the lower one
SIGN = np.uint32(0x80000000)
KEY_BITS = np.uint64(32)


@dataclass(frozen=True)
class Stump:
    """f(x) = 1[x_feature > threshold], or 1[x_feature <= threshold] where `above` is false."""

    feature: int
    threshold: float
    above: bool

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """(n_docs, n_features) -> (n_docs,) bool."""
        return (features[:, self.feature] > self.threshold) == self.above


#: takes features (n_docs, n_features), returns the class of each document
Learner = Callable[[np.ndarray], np.ndarray]
#: finds the best classifier for weights (n_docs,) of any sign: the stump f that maximises
#: sum_i w_i f(x_i) over all features, cuts and directions, its values (n_docs,) bool and that sum.
#: None if no cut separates documents with a positive sum. The first feature, and the lowest cut,
#: of equally good ones is taken.
Search = Callable[[np.ndarray], tuple[Learner, np.ndarray, float] | None]


def stump_search(features: np.ndarray, bins: int | None) -> Search:
    """Prepare features (n_docs, n_features) of any real type; return the search for weights.

    A feature has at most so many bins, of about equal numbers of documents. None tries every
    threshold.
    """
    if bins is None:
        return partial(best_of_all, SortedFeatures.of(features))
    return partial(best_stump, BinnedFeatures.of(features, bins))


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """The features' values as bin numbers, so that a threshold is a bin number too.

    codes:  (n_features, n_docs) uint8, uint16 or uint32, C order: each document's bin; a larger
            value never has a smaller code.
    n_bins: (n_features,) int64, the number of bins of each feature.
    cuts:   cuts[k][b] is the threshold between the bins b and b + 1 of feature k, float64.
    """

    codes: np.ndarray
    n_bins: np.ndarray
    cuts: tuple[np.ndarray, ...]

    @staticmethod
    def of(features: np.ndarray, max_bins: int | None = None) -> BinnedFeatures:
        """Bin features of any real type; thresholds are found among the float32 values.

        There are at most `max_bins` bins a feature, of about equal numbers of documents. Without
        it, and for a feature with no more distinct values, every distinct value has a bin.
        """
        if max_bins is not None and max_bins < 2:
            raise UsageError(f"found bins={max_bins}, expected 2 or more")
        features = float32_features(features)

        def of_group(first: int) -> list[tuple[np.ndarray, np.ndarray]]:
            columns = contiguous_columns(features, first, first + GROUP)
            return [_binned_column(column, max_bins) for column in columns]

        groups = run_tasks([partial(of_group, k) for k in range(0, features.shape[1], GROUP)])
        binned = [column for group in groups for column in group]
        codes = np.stack([own for _, own in binned])  # in the widest of their types
        cuts = tuple(own for own, _ in binned)
        n_bins = np.array([len(c) + 1 for c in cuts], dtype=np.int64)
        return BinnedFeatures(codes, n_bins, cuts)

    def stump(self, k: int, cut: int, above: bool) -> tuple[Stump, np.ndarray]:
        """Return the stump of feature k at a cut, and its values (n_docs,) bool."""
        return Stump(k, float(self.cuts[k][cut]), above), (self.codes[k] > cut) == above


def _binned_column(column: np.ndarray, max_bins: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return a feature's thresholds, float64, and the documents' bins in the smallest type."""
    values, rows = sorted_column(column)
    below = _value_starts(values)[1:]
    cuts = (values[below - 1].astype(np.float64) + values[below]) / 2.0
    if max_bins is not None and len(cuts) >= max_bins:
        # a cut wherever the share of documents below it passes the next whole number of bins
        whole = np.floor(below / len(values) * max_bins)
        kept = np.diff(whole, prepend=0.0) > 0
        cuts, below = cuts[kept], below[kept]
    return cuts, _codes(rows, below, np.min_scalar_type(len(cuts)))


def _value_starts(values: np.ndarray) -> np.ndarray:
    """Return where each distinct value of a sorted column begins."""
    return np.append(0, np.flatnonzero(values[1:] != values[:-1]) + 1)


def _codes(rows: np.ndarray, below: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Number the bins of sorted rows; below: how many documents are before each bin's end."""
    codes = np.empty(len(rows), dtype)
    sizes = np.diff(below, prepend=0, append=len(rows))
    codes[rows] = np.repeat(np.arange(len(sizes), dtype=dtype), sizes)
    return codes


def best_stump(
    binned: BinnedFeatures, weights: np.ndarray
) -> tuple[Stump, np.ndarray, float] | None:
    """Find the best stump among the cuts between bins: a `Search`."""
    n_features = len(binned.n_bins)
    best = np.zeros((n_features, 2))
    total = float(weights.sum())
    groups = np.arange(0, n_features, TOGETHER)

    def search(start: int, stop: int) -> None:
        part = slice(TOGETHER * start, TOGETHER * stop)
        _best_sums(binned.codes[part], binned.n_bins[part], weights, total, best[part])

    least = max(1, LEAST // (TOGETHER * max(1, len(weights))))
    cost = np.where(binned.n_bins > 1, len(weights) + 4 * binned.n_bins, 1)
    parallel_for(search, len(groups), least, np.add.reduceat(cost, groups))
    k, above = divmod(int(np.argmax(best)), 2)
    if not best[k, above] > 0.0:
        return None
    histogram = np.zeros(binned.n_bins[k])
    fill(binned.codes[k], weights, histogram)
    cut = _best_cut(histogram, bool(above))
    return *binned.stump(k, cut, bool(above)), float(best[k, above])


def _best_cut(histogram: np.ndarray, above: bool) -> int:
    """Return the cut with the largest sum of the bins on that side, the first of equals."""
    below = np.cumsum(histogram[:-1])
    return int(np.argmin(below) if above else np.argmax(below))


@kernel()
def _best_sums(
    codes: np.ndarray, n_bins: np.ndarray, weights: np.ndarray, total: float, best: np.ndarray
) -> None:
    """Find each feature's largest sums of weights on one side of a cut.

    best[k] = (largest sum over the documents with code <= b, largest with code > b) of all
    cuts b of feature k, 0 where none is positive. total: the sum of all weights. How a histogram
    is summed depends on its group of TOGETHER features, so a slice must begin with a whole group.
    """
    histograms = np.empty((2 * TOGETHER, n_bins.max() + TOGETHER))
    for first in range(0, len(n_bins), TOGETHER):
        last = min(first + TOGETHER, len(n_bins))
        histograms[:] = 0.0
        if last - first == TOGETHER and n_bins[first:last].max() <= FEW:
            _fill_together(codes, weights, first, histograms)
            for k in range(TOGETHER):
                histograms[k] += histograms[TOGETHER + k]
        else:
            for k in range(first, last):
                fill(codes[k], weights, histograms[k - first])
        for k in range(first, last):
            _scan(histograms[k - first], n_bins[k], total, best[k])


@kernel()
def fill(codes: np.ndarray, weights: np.ndarray, histogram: np.ndarray) -> None:
    """Add each document's weight to the bin of its code."""
    for i in range(len(codes)):
        histogram[codes[i]] += weights[i]


@kernel()
def _fill_together(codes: np.ndarray, weights: np.ndarray, k: int, histograms: np.ndarray) -> None:
    """Do as `fill` for the features k..k + 3, the even and the odd documents apart."""
    a, b, c, d = codes[k], codes[k + 1], codes[k + 2], codes[k + 3]
    a0, b0, c0, d0 = histograms[0], histograms[1], histograms[2], histograms[3]
    a1, b1, c1, d1 = histograms[4], histograms[5], histograms[6], histograms[7]
    for half in range(len(a) // 2):
        i = np.uint64(2 * half)  # unsigned: no check for an index from the end
        j = i | np.uint64(1)
        w, v = weights[i], weights[j]
        a0[a[i]] += w
        b0[b[i]] += w
        c0[c[i]] += w
        d0[d[i]] += w
        a1[a[j]] += v
        b1[b[j]] += v
        c1[c[j]] += v
        d1[d[j]] += v
    if len(a) % 2 == 1:
        i = np.uint64(len(a) - 1)
        a0[a[i]] += weights[i]
        b0[b[i]] += weights[i]
        c0[c[i]] += weights[i]
        d0[d[i]] += weights[i]


@kernel()
def _scan(histogram: np.ndarray, n_bins: int, total: float, best: np.ndarray) -> None:
    """Find a feature's two largest sums from its histogram, which has TOGETHER zeros behind it.

    Four quarters are summed side by side: p, q, r and s.
    """
    histogram[n_bins - 1] = 0.0  # a cut above the last bin separates nothing
    quarter = (n_bins - 1 + TOGETHER - 1) // TOGETHER
    p, q = histogram[:quarter], histogram[quarter : 2 * quarter]
    r, s = histogram[2 * quarter : 3 * quarter], histogram[3 * quarter : 4 * quarter]
    p_sum = q_sum = r_sum = s_sum = 0.0
    p_most = q_most = r_most = s_most = -np.inf
    p_least = q_least = r_least = s_least = np.inf
    for b in range(len(p)):
        p_sum += p[b]
        q_sum += q[b]
        r_sum += r[b]
        s_sum += s[b]
        p_most, p_least = max(p_most, p_sum), min(p_least, p_sum)
        q_most, q_least = max(q_most, q_sum), min(q_least, q_sum)
        r_most, r_least = max(r_most, r_sum), min(r_least, r_sum)
        s_most, s_least = max(s_most, s_sum), min(s_least, s_sum)
    before_r = p_sum + q_sum
    before_s = before_r + r_sum
    most = max(max(p_most, p_sum + q_most), max(before_r + r_most, before_s + s_most))
    least = min(min(p_least, p_sum + q_least), min(before_r + r_least, before_s + s_least))
    best[0] = max(0.0, most)
    best[1] = max(0.0, total - least)


class SortedDocuments(NamedTuple):
    """Each feature's documents in the order of their values, and in coarse bins.

    rows:     (n_features, n_docs) uint32, the documents in the order of a feature's values, equal
              values by row, with `CUT` where the next value is larger.
    codes:    (n_features, n_docs) uint8, each document's coarse bin. No value is in two bins.
    starts:   (n_features, COARSE + 1) int64: rows[k, starts[k, c]:starts[k, c + 1]] are the
              documents of feature k's coarse bin c. Bins that are not there are empty, at the end.
    several:  (n_features, COARSE) bool, whether a coarse bin has more than one value.
    n_values: (n_features,) int64, how many distinct values each feature has.
    """

    rows: np.ndarray
    codes: np.ndarray
    starts: np.ndarray
    several: np.ndarray
    n_values: np.ndarray


@dataclass(frozen=True, eq=False)
class SortedFeatures:
    """Features (n_docs, n_features), float32, and their sorted documents."""

    features: np.ndarray
    documents: SortedDocuments

    @staticmethod
    def of(features: np.ndarray) -> SortedFeatures:
        """Sort features (n_docs, n_features) of any real type, as float32."""
        features = float32_features(features)
        n_docs, n_features = features.shape
        documents = SortedDocuments(
            np.empty((n_features, n_docs), np.uint32),
            np.empty((n_features, n_docs), np.uint8),
            np.empty((n_features, COARSE + 1), np.int64),
            np.empty((n_features, COARSE), np.bool_),
            np.empty(n_features, np.int64),
        )
        groups = range(0, n_features, GROUP)
        run_tasks([partial(_sort, features, first, documents) for first in groups])
        return SortedFeatures(features, documents)

    def stump(self, k: int, cut: int, above: bool) -> tuple[Stump, np.ndarray]:
        """Return the stump of feature k at its cut of that number, and its values (n_docs,)."""
        rows, starts = self.documents.rows[k], self.documents.starts[k]
        last = np.flatnonzero(rows & CUT)[cut]
        low, high = self.features[rows[last : last + 2] & ROW, k]
        coarse = int(np.searchsorted(starts, last, side="right")) - 1
        values = self.documents.codes[k] > coarse
        values[rows[last + 1 : starts[coarse + 1]] & ROW] = True
        return Stump(k, float((np.float64(low) + high) / 2.0), above), values == above


def _sort(features: np.ndarray, first: int, documents: SortedDocuments) -> None:
    """Fill the documents' part of `GROUP` features."""
    for k, column in enumerate(contiguous_columns(features, first, first + GROUP), first):
        values, rows = sorted_column(column + 0.0)  # -0.0 becomes 0.0
        value_starts = _value_starts(values)
        coarse = _coarse_starts(value_starts, len(rows))
        starts = documents.starts[k]
        starts[: len(coarse)], starts[len(coarse) :] = coarse, len(rows)
        documents.several[k] = np.diff(np.searchsorted(value_starts, starts)) > 1
        documents.codes[k] = _codes(rows, coarse[1:], np.dtype(np.uint8))
        documents.n_values[k] = len(value_starts)
        documents.rows[k] = rows
        documents.rows[k, value_starts[1:] - 1] |= CUT


def _coarse_starts(value_starts: np.ndarray, n_docs: int) -> np.ndarray:
    """Return where the coarse bins of a feature begin.

    Each value has a bin, where there are so few. Else the documents are cut into equal parts, and
    a bin has the values that begin in a part, but a value larger than a part has its own.
    """
    if len(value_starts) <= COARSE:
        return value_starts
    sizes = np.diff(value_starts, append=n_docs)
    for parts in (COARSE, COARSE // 2):  # half as many always fit: half the bins may be values
        large = sizes * parts > n_docs
        begins = large | (np.diff(value_starts * parts // n_docs, prepend=-1) > 0)
        begins[1:] |= large[:-1]
        if begins.sum() <= COARSE:
            break
    return value_starts[begins]


class _Sums(NamedTuple):
    """What is known of the sums of weights on one side of a cut.

    before:  (n_features, COARSE), the sum of the weights below each coarse bin.
    bound:   (n_features, COARSE), no cut inside the bin has a larger sum; -inf without such cuts.
    highest: (n_features,), the largest bound of a feature's bins.
    best:    (n_features,), the largest sum of a feature's cuts that have been tried.
    """

    before: np.ndarray
    bound: np.ndarray
    highest: np.ndarray
    best: np.ndarray


def best_of_all(
    ordered: SortedFeatures, weights: np.ndarray
) -> tuple[Stump, np.ndarray, float] | None:
    """Find the best stump at every threshold of every feature: a `Search`."""
    documents, total = ordered.documents, float(weights.sum())
    best, most = None, 0.0
    for k in _possible(documents, weights, total):
        n_values = int(documents.n_values[k])
        histogram, sides = np.zeros(n_values + TOGETHER), np.empty(2)
        _fill_in_order(documents.rows[k], weights, histogram)
        _scan(histogram, n_values, total, sides)
        above = bool(sides[1] > sides[0])
        if sides[int(above)] > most:
            most = float(sides[int(above)])
            best = int(k), _best_cut(histogram[:n_values], above), above
    return None if best is None else (*ordered.stump(*best), most)


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


def sorted_column(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort a column of features (n_docs,) float32, equal values by row, and -0.0 before 0.0.

    Return the values, and the rows (n_docs,) uint32: ``column[rows]`` has the values.
    """
    bits = column.view(np.uint32)
    # the order of the flipped bits is the order of the numbers; the row makes each key unique
    flipped = np.where(bits & SIGN, ~bits, bits | SIGN)
    keys = flipped.astype(np.uint64) << KEY_BITS | np.arange(len(column), dtype=np.uint64)
    keys.sort()
    flipped = (keys >> KEY_BITS).astype(np.uint32)
    values = np.where(flipped & SIGN, flipped ^ SIGN, ~flipped)
    return values.view(np.float32), keys.astype(np.uint32)
