"""The weak learner of the boosters: the decision stump that agrees best with given weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np

from letorbench.kernels import stumps
from letorbench.threads import in_threads, in_turn


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
    """Each feature's values as bin numbers, so that a cut of a feature is a bin number too.

    codes:   (n_features, n_docs) uint8, uint16 or uint32, C order; larger codes, larger values.
    n_bins:  (n_features,) int64.
    cuts:    cuts[k][b] is the threshold between the bins b and b + 1 of feature k, float64.
    """

    codes: np.ndarray
    n_bins: np.ndarray
    cuts: tuple[np.ndarray, ...]

    @staticmethod
    def of(features: np.ndarray, max_bins: int | None = None) -> BinnedFeatures:
        """Bin (n_docs, n_features) float32 values.

        max_bins None: a bin for every distinct value, so that every threshold there is can be
        found; otherwise at most that many bins of about equal numbers of documents, and
        exactly the same bins where a feature has no more distinct values than that.
        """
        columns = range(features.shape[1])
        cuts = tuple(in_turn([partial(_cuts, features, k, max_bins) for k in columns]))
        n_bins = np.array([len(c) + 1 for c in cuts], dtype=np.int64)
        starts = np.append(0, np.cumsum(n_bins - 1))
        largest = n_bins.max(initial=1)
        dtype = np.uint8 if largest <= 2**8 else np.uint16 if largest <= 2**16 else np.uint32
        codes = np.empty((features.shape[1], len(features)), dtype)
        joined = np.concatenate([np.zeros(0), *cuts])

        def part(start: int, stop: int) -> None:
            stumps.encode(features, joined, starts, start, stop, codes)

        in_threads(part, len(features), least=4096)
        return BinnedFeatures(codes, n_bins, cuts)

    @cached_property
    def search_cost(self) -> np.ndarray:
        """(n_features,) what a search of each feature costs, in additions."""
        return np.where(self.n_bins > 1, self.codes.shape[1] + 4 * self.n_bins, 1)

    def flags(self, stump: Stump, cut: int) -> np.ndarray:
        """(n_docs,) bool: the stump's values on these documents, from its cut's bin number."""
        return (self.codes[stump.feature] > cut) == stump.above


def _cuts(features: np.ndarray, k: int, max_bins: int | None) -> np.ndarray:
    """Feature k's thresholds between bins: midpoints of neighbouring distinct values, float64."""
    if len(features) == 0:
        return np.zeros(0)
    bits, spare = np.empty((2, len(features)), dtype=np.uint32)
    stumps.sort_column(features.view(np.uint32), k, bits, spare)
    ordered = bits.view(np.float32)
    first = np.flatnonzero(ordered[1:] != ordered[:-1]) + 1
    distinct = ordered[np.append(0, first)].astype(np.float64)
    between = (distinct[:-1] + distinct[1:]) / 2.0
    if max_bins is None or len(distinct) <= max_bins:
        return between
    # a cut wherever the share of documents below it passes the next whole number of bins
    whole = np.floor(first / len(ordered) * max_bins)
    return between[np.diff(whole, prepend=0.0) > 0]


def best_stump(binned: BinnedFeatures, weights: np.ndarray) -> tuple[Stump, int, float] | None:
    """The stump f that maximises sum_i w_i f(x_i) over every feature, cut and direction.

    weights: (n_docs,) float64. Returns the stump, its cut's bin number and that sum; None
    where no cut separates documents with a positive sum. Ties go to the lowest feature.
    """
    n_features = len(binned.n_bins)
    best = np.zeros((n_features, 2))
    total = float(weights.sum())

    def part(start: int, stop: int) -> None:
        stumps.best_sums(binned.codes, binned.n_bins, weights, total, start, stop, best)

    in_threads(part, n_features, max(1, 50_000 // max(1, len(weights))), binned.search_cost)
    k, side = divmod(int(np.argmax(best)), 2)
    if not best[k, side] > 0.0:
        return None
    above = side == 1
    cut = stumps.best_cut(
        binned.codes[k], int(binned.n_bins[k]), weights, -1.0 if above else 1.0
    )
    return Stump(k, float(binned.cuts[k][cut]), above), cut, float(best[k, side])
