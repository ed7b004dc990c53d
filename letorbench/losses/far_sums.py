"""RankNet's sums over the pairs of two long blocks whose scores lie far apart.

Where two scores differ by more than FAR, a pair's pull is 0 or 1 and its cost 0 or the
difference, to the rounding of 1: such pairs are counted. The documents of one block are cut into
intervals of scores that are FAR wide. Only the documents of the other block that lie no further
than FAR from an interval are summed there, by the series of `letorbench.losses.smooth_sums` or,
where they are few, pair by pair. The time is linear in the documents but for their sorting.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.losses.smooth_sums import PairBlock, pull_series, series, series_cost, terms

#: exp(-FAR) is below half the rounding of 1
FAR = 40.0


@kernel()
def far_pays(upper: int, lower: int) -> bool:
    """Whether a series over FAR takes less time than upper * lower pairs, an exponential each."""
    return upper * lower > terms(FAR) * (upper + lower)


@kernel()
def far_blocks(s: np.ndarray, pairs: PairBlock, force: np.ndarray) -> float:
    """Add the forces of the pairs; return their cost. s: scores."""
    b0, b1, begin, end = pairs
    upper, lower = np.argsort(s[b0:b1]), np.argsort(s[begin:end])
    x, y = s[b0:b1][upper], s[begin:end][lower]
    pull, push = np.zeros(len(x)), np.zeros(len(y))
    cost = _add_pulls(x, y, pull)
    _add_pulls(y, x, push)
    for i in range(len(x)):
        force[b0 + upper[i]] += pull[i]
    for j in range(len(y)):
        force[begin + lower[j]] -= len(x) - push[j]
    return cost


@kernel()
def _add_pulls(x: np.ndarray, y: np.ndarray, pull: np.ndarray) -> float:
    """Add sum_j sigma(y_j - x_i) to pull[i]; return sum_ij log(1 + exp(y_j - x_i)).

    x and y ascend.
    """
    cost, above_sum = 0.0, y.sum()
    first = low = high = 0
    while first < len(x):
        last = first
        while last < len(x) and x[last] <= x[first] + FAR:
            last += 1
        while low < len(y) and y[low] < x[first] - FAR:
            low += 1
        while high < len(y) and y[high] <= x[last - 1] + FAR:
            above_sum -= y[high]
            high += 1
        above = len(y) - high
        for i in range(first, last):
            pull[i] += above
            cost += above_sum - above * x[i]
        cost += _add_near_pulls(x[first:last], y[low:high], pull[first:last])
        first = last
    return cost


@kernel()
def _add_near_pulls(x: np.ndarray, y: np.ndarray, pull: np.ndarray) -> float:
    """Do as `_add_pulls` for scores x that span FAR at most, and y no further than FAR away."""
    if far_pays(len(x), len(y)):
        half, middle = 0.5 * FAR, x[0] + 0.5 * FAR
        u = np.exp(y - middle)
        coefficients = pull_series(u, 0.0, half)
        for i in range(len(x)):
            pull[i] += series(coefficients, (x[i] - middle) / half)
        return series_cost(coefficients, x, u, middle, middle, half)
    cost = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            t = np.exp(-abs(y[j] - x[i]))
            pull[i] += (1.0 if y[j] > x[i] else t) / (1.0 + t)
            cost += np.log1p(t) + max(0.0, y[j] - x[i])
    return cost
