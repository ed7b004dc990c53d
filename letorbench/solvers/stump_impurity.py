"""The decision stump of least impurity for given document weights, as CART fits one.

A document has the class sign(w) and the weight |w|. A leaf whose classes weigh p and n has the
impurity 2 p n / (p + n) by "gini" and p ln((p + n) / p) + n ln((p + n) / n) by "entropy" (Breiman,
Friedman, Olshen, Stone: Classification and Regression Trees, 1984). The stump has the least sum of
its two leaves, and each leaf has the class that weighs more. A cut whose leaves have the same
class, or one of no class, is no classifier and is skipped.

The search is that of `stump_search` with other bounds. If the leaves have different classes, their
impurity falls as weights move to the leaf of their class. So a cut inside a coarse bin has at least
the impurity of the leaves that part the bin's positive weights from its negative ones.

The features with the least impurity up to rounding are searched again in plain NumPy, each by sums
in the order of its values. Of the cuts that are equal up to rounding, the first feature's lowest is
taken.
"""

from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for
from letorbench.features.columns import COARSE, BinnedFeatures
from letorbench.models.tree_ensemble import stump
from letorbench.solvers.stump_search import (
    CUT,
    LEAST,
    ROW,
    TOGETHER,
    BestTree,
    Search,
    SortedFeatures,
    fill,
)

#: as in `stump_search`: where p is near 0, the entropy changes up to 40 times as much as p
SLACK = 64.0


def impurity_search(features: np.ndarray, bins: int | None, criterion: str) -> Search:
    """Prepare features (n_docs, n_features) for the criterion "gini" or "entropy".

    bins: at most 256; None tries every threshold.
    """
    if bins is None:
        ordered = SortedFeatures.of(features)
        return partial(purest_stump, ordered, ordered.several, criterion)
    binned = BinnedFeatures.of(features, bins)
    return partial(purest_stump, binned, np.zeros((len(binned.codes), COARSE), np.bool_), criterion)


def impurity(p: np.ndarray, n: np.ndarray, criterion: str) -> np.ndarray:
    """Return the impurity of leaves whose two classes weigh p and n, times their weights p + n."""
    whole = np.where(p + n > 0.0, p + n, 1.0)
    if criterion == "gini":
        return 2.0 * p * (n / whole)
    of_p, of_n = (x * np.log(np.where(x > 0.0, x / whole, 1.0)) for x in (p, n))
    return -(of_p + of_n)


class _Sums(NamedTuple):
    """Weights below cuts, and impurities of stumps."""

    P: float  # the sum of all positive weights
    N: float  # and of all negative ones, without their sign
    gini: bool
    before: np.ndarray  # (n_features, COARSE, 2), p and n below each bin
    bound: np.ndarray  # (n_features, COARSE), of the cuts inside the bin; inf without cuts
    least: np.ndarray  # (n_features,), of the cuts tried so far; inf without a classifier
    slack: float  # how much rounding may change an impurity, or a leaf's difference of weights


def purest_stump(
    searched: SortedFeatures | BinnedFeatures,
    several: np.ndarray,
    criterion: str,
    weights: np.ndarray,
) -> BestTree | None:
    """Find the stump of least impurity: a `Search`; `several` bins have cuts inside, too."""
    p, n = np.maximum(weights, 0.0), np.maximum(-weights, 0.0)
    P, N, shape = float(p.sum()), float(n.sum()), several.shape
    slack = SLACK * len(weights) * 2.0**-52 * (P + N)
    before, bound, least = np.empty((*shape, 2)), np.empty(shape), np.empty(len(several))
    sums = _Sums(P, N, criterion == "gini", before, bound, least, slack)

    def whole(start: int, stop: int) -> None:
        first, last = TOGETHER * start, min(TOGETHER * stop, len(several))
        _try_bins(searched.codes, searched.n_bins, several, weights, first, last, sums)

    groups = -(-len(several) // TOGETHER)
    parallel_for(whole, groups, max(1, LEAST // (TOGETHER * max(1, len(weights)))))
    wanted = least.min(initial=np.inf) + slack
    if isinstance(searched, SortedFeatures):
        features = np.flatnonzero((bound <= wanted).any(axis=1))
        sizes = np.diff(searched.starts[features])
        cost = np.where(bound[features] <= wanted, sizes, 0).sum(axis=1)

        def inside(start: int, stop: int) -> None:
            some = features[start:stop]
            _try_inside(some, searched.rows, searched.starts, weights, wanted, sums)

        parallel_for(inside, len(features), 1 + LEAST * len(features) // (1 + cost.sum()), cost)
    wanted = least.min(initial=np.inf) + slack
    for k in np.flatnonzero(np.isfinite(least) & (least <= wanted)).tolist():
        p_below, n_below = searched.sums_below(k, p), searched.sums_below(k, n)
        p_above, n_above = np.maximum(0.0, P - p_below), np.maximum(0.0, N - n_below)
        total = impurity(p_below, n_below, criterion) + impurity(p_above, n_above, criterion)
        below, above = p_below - n_below, p_above - n_above
        parted = (np.minimum(below, above) < -slack) & (np.maximum(below, above) > slack)
        for cut in np.flatnonzero(parted & (total <= wanted))[:1].tolist():
            up = bool(above[cut] > 0.0)
            eta = float(max(below[cut], above[cut]))
            return *stump(k, up, *searched.split(k, cut)), eta
    return None


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
            p, n, least = 0.0, 0.0, np.inf
            for c in range(n_bins[k]):
                more_p, more_n = p + bins[k - first, c], n - bins[k - first, COARSE + c]
                sums.bound[k, c] = np.inf
                if several[k, c]:
                    sums.bound[k, c] = min(_both(more_p, n, sums), _both(p, more_n, sums))
                sums.before[k, c, 0], sums.before[k, c, 1] = p, n
                p, n = more_p, more_n
                if c + 1 < n_bins[k] and _parted(p, n, sums):
                    least = min(least, _both(p, n, sums))
            sums.bound[k, n_bins[k] :] = np.inf
            sums.least[k] = least


@kernel()
def _try_inside(
    features: np.ndarray,
    rows: np.ndarray,
    starts: np.ndarray,
    weights: np.ndarray,
    wanted: float,
    sums: _Sums,
) -> None:
    """Try the cuts inside the bins of these features whose bound is at most `wanted`."""
    for k in features:
        least, bound = sums.least[k], sums.bound[k]
        for c in range(len(bound)):
            if bound[c] > wanted or bound[c] == np.inf:
                continue
            p, n = sums.before[k, c]
            for entry in rows[k, starts[k, c] : starts[k, c + 1]]:
                w = weights[entry & ROW]
                p += max(w, 0.0)
                n += max(-w, 0.0)
                if entry & CUT and _parted(p, n, sums):
                    least = min(least, _both(p, n, sums))
        sums.least[k] = least


@kernel()
def _both(p: float, n: float, sums: _Sums) -> float:
    """Return the impurity of both leaves of the cut with the weights p and n below it."""
    rest = _impurity(max(0.0, sums.P - p), max(0.0, sums.N - n), sums.gini)
    return _impurity(p, n, sums.gini) + rest


@kernel()
def _impurity(p: float, n: float, gini: bool) -> float:
    whole = p + n
    if p == 0.0 or n == 0.0:
        return 0.0
    if gini:
        return 2.0 * p * (n / whole)
    return -(p * np.log(p / whole) + n * np.log(n / whole))


@kernel()
def _parted(p: float, n: float, sums: _Sums) -> bool:
    """Return whether the leaves of a cut have different classes."""
    below, above = p - n, (sums.P - p) - (sums.N - n)
    return min(below, above) < -sums.slack and max(below, above) > sums.slack
