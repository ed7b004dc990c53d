"""The decision stump that agrees best with given document weights: the boosters' weak learner.

A stump is found by one histogram a feature: each bin's sum of document weights, and running
sums over the bins. Features are therefore stored as bin numbers once, before the first round.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from letorbench.errors import UsageError
from letorbench.features.moments import contiguous_columns
from letorbench.jit import kernel
from letorbench.models.base import float32_features
from letorbench.solvers.radix_sort import sorted_column
from letorbench.threads import parallel_for, run_tasks

#: how many features' histograms are filled in one pass over the documents, and how many parts
#: of a histogram are summed side by side: independent chains of additions hide the latency of
#: adding to the same number again and again
TOGETHER = 4

#: additions that are worth a thread: to hand it its part costs as much as 200,000
LEAST = 500_000

#: features that are binned at a time, whose values in a document are near each other in memory
GROUP = 8

#: with more bins than this, additions to the same bin in a row are rare enough
FEW = 256


@dataclass(frozen=True)
class Stump:
    """f(x) = 1[x_feature > threshold], or 1[x_feature <= threshold] where `above` is false."""

    feature: int
    threshold: float
    above: bool

    def __call__(self, features: np.ndarray) -> np.ndarray:
        """(n_docs, n_features) -> (n_docs,) bool."""
        return (features[:, self.feature] > self.threshold) == self.above


@dataclass(frozen=True, eq=False)
class BinnedFeatures:
    """The features' values as bin numbers, so that a threshold is a bin number too.

    Parameters
    ----------
    codes : ndarray of shape (n_features, n_docs), uint8, uint16 or uint32, C order
        Each document's bin; a larger value never has a smaller code.
    n_bins : ndarray of shape (n_features,), int64
        The number of bins of each feature.
    cuts : tuple of n_features ndarrays, float64
        cuts[k][b] is the threshold between the bins b and b + 1 of feature k.
    """

    codes: np.ndarray
    n_bins: np.ndarray
    cuts: tuple[np.ndarray, ...]

    @staticmethod
    def of(features: np.ndarray, max_bins: int | None = None) -> BinnedFeatures:
        """Bin features.

        Parameters
        ----------
        features : ndarray of shape (n_docs, n_features)
            Any real type; thresholds are found among the float32 values.
        max_bins : int, optional
            At most so many bins a feature, of about equal numbers of documents. Without it, and
            for a feature with no more distinct values than that, every distinct value has a bin.
        """
        if max_bins is not None and max_bins < 2:
            raise UsageError(f"found bins={max_bins}, expected 2 or more")
        features = float32_features(features)
        groups = range(0, features.shape[1], GROUP)
        made = run_tasks([partial(_binned_columns, features, k, max_bins) for k in groups])
        binned = [column for group in made for column in group]
        codes = np.stack([own for _, own in binned])  # in the widest of their types
        cuts = tuple(own for own, _ in binned)
        n_bins = np.array([len(c) + 1 for c in cuts], dtype=np.int64)
        return BinnedFeatures(codes, n_bins, cuts)

    @cached_property
    def search_cost(self) -> np.ndarray:
        """(n_features,) what a search of each feature costs, in additions."""
        return np.where(self.n_bins > 1, self.codes.shape[1] + 4 * self.n_bins, 1)

    def stump(self, k: int, cut: int, above: bool) -> tuple[Stump, np.ndarray]:
        """Return the stump of feature k at a cut, and its values (n_docs,) bool."""
        return Stump(k, float(self.cuts[k][cut]), above), (self.codes[k] > cut) == above


def _binned_columns(
    features: np.ndarray, first: int, max_bins: int | None
) -> list[tuple[np.ndarray, np.ndarray]]:
    columns = contiguous_columns(features, first, first + GROUP)
    return [_binned_column(column, max_bins) for column in columns]


def _binned_column(column: np.ndarray, max_bins: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return a feature's thresholds, float64, and the documents' bins in the smallest type."""
    values, rows = sorted_column(column)
    cuts, below = _cuts(values, max_bins)
    bins = np.arange(len(cuts) + 1, dtype=np.min_scalar_type(len(cuts)))
    codes = np.empty(len(values), bins.dtype)
    codes[rows] = np.repeat(bins, np.diff(below, prepend=0, append=len(values)))
    return cuts, codes


def _cuts(ordered: np.ndarray, max_bins: int | None) -> tuple[np.ndarray, np.ndarray]:
    """Return midpoints of neighbouring distinct values, float64, and how many documents are below.

    These are all midpoints, or `max_bins` - 1 of them.
    """
    below = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    cuts = (ordered[below - 1].astype(np.float64) + ordered[below]) / 2.0
    if max_bins is None or len(cuts) < max_bins:
        return cuts, below
    # a cut wherever the share of documents below it passes the next whole number of bins
    whole = np.floor(below / len(ordered) * max_bins)
    kept = np.diff(whole, prepend=0.0) > 0
    return cuts[kept], below[kept]


def best_stump(
    binned: BinnedFeatures, weights: np.ndarray
) -> tuple[Stump, np.ndarray, float] | None:
    """Find the stump f that maximises sum_i w_i f(x_i) over all features, cuts and directions.

    Parameters
    ----------
    binned : BinnedFeatures
    weights : ndarray of shape (n_docs,), float64
        Of any sign.

    Returns
    -------
    (Stump, ndarray of shape (n_docs,), float) or None
        The stump, its values and that sum; None if no cut separates documents with a positive
        sum. The first feature, and the lowest cut, of equally good ones is taken.
    """
    n_features = len(binned.n_bins)
    best = np.zeros((n_features, 2))
    total = float(weights.sum())
    groups = np.arange(0, n_features, TOGETHER)

    def search(start: int, stop: int) -> None:
        part = slice(TOGETHER * start, TOGETHER * stop)
        _best_sums(binned.codes[part], binned.n_bins[part], weights, total, best[part])

    least = max(1, LEAST // (TOGETHER * max(1, len(weights))))
    parallel_for(search, len(groups), least, np.add.reduceat(binned.search_cost, groups))
    k, above = divmod(int(np.argmax(best)), 2)
    if not best[k, above] > 0.0:
        return None
    sign = -1.0 if above else 1.0
    cut = _best_cut(binned.codes[k], int(binned.n_bins[k]), weights, sign)
    stump, values = binned.stump(k, cut, bool(above))
    return stump, values, float(best[k, above])


@kernel()
def _best_sums(
    codes: np.ndarray, n_bins: np.ndarray, weights: np.ndarray, total: float, best: np.ndarray
) -> None:
    """Find each feature's largest sums of weights on one side of a cut.

    best[k] = (largest sum over the documents with code <= b, largest with code > b) of all
    cuts b of feature k, 0 where none is positive. total: the sum of all weights. How a histogram
    is summed depends on its group of TOGETHER features, so a slice must begin with a whole group.
    """
    n_features = len(n_bins)
    histograms = np.empty((2 * TOGETHER, n_bins.max() + TOGETHER))
    for group in range(0, n_features, TOGETHER):
        end = min(group + TOGETHER, n_features)
        few = end - group == TOGETHER
        for k in range(group, end):
            few = few and n_bins[k] <= FEW
        together = TOGETHER if few else 2
        for first in range(group, end, together):
            last = min(first + together, end)
            for k in range(first, last):
                histograms[k - first, : n_bins[k] + TOGETHER] = 0.0
            if few:
                for k in range(first, last):
                    histograms[TOGETHER + k - first, : n_bins[k]] = 0.0
                _fill_together(codes, weights, first, histograms)
                for k in range(first, last):
                    for b in range(n_bins[k]):
                        histograms[k - first, b] += histograms[TOGETHER + k - first, b]
            elif last - first == 2 and n_bins[first] > 1 and n_bins[first + 1] > 1:
                _fill_two(codes[first], codes[first + 1], weights, histograms[0], histograms[1])
            else:
                for k in range(first, last):
                    if n_bins[k] > 1:
                        _fill(codes[k], weights, histograms[k - first])
            for k in range(first, last):
                scan(histograms[k - first], n_bins[k], total, best[k])


@kernel()
def _fill(codes: np.ndarray, weights: np.ndarray, histogram: np.ndarray) -> None:
    """Add each document's weight to the bin of its code."""
    for i in range(len(codes)):
        histogram[codes[i]] += weights[i]


@kernel()
def _fill_two(
    a: np.ndarray, b: np.ndarray, weights: np.ndarray, for_a: np.ndarray, for_b: np.ndarray
) -> None:
    """Do as `_fill` for two features in one pass."""
    for i in range(len(a)):
        for_a[a[i]] += weights[i]
        for_b[b[i]] += weights[i]


@kernel()
def _fill_together(codes: np.ndarray, weights: np.ndarray, k: int, histograms: np.ndarray) -> None:
    """Do as `_fill` for the features k..k + 3, the even and the odd documents apart."""
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
def scan(histogram: np.ndarray, n_bins: int, total: float, best: np.ndarray) -> None:
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


@kernel()
def _best_cut(codes: np.ndarray, n_bins: int, weights: np.ndarray, sign: float) -> int:
    """Return the cut b with the largest sign * (sum of weights, code <= b), the first of equals."""
    histogram = np.zeros(n_bins)
    _fill(codes, weights, histogram)
    return best_cut(histogram, n_bins, sign)


@kernel()
def best_cut(histogram: np.ndarray, n_bins: int, sign: float) -> int:
    """Return the cut of a histogram below which sign * (sum of weights) is largest."""
    below, most, cut = 0.0, -np.inf, -1
    for b in range(n_bins - 1):
        below += sign * histogram[b]
        if below > most:
            most, cut = below, b
    return cut
