"""RankNet's sums over the pairs of two long blocks, in time linear in their documents.

The pull sum_j sigma(s_j - x) of a block on a document is a smooth function of its score x,
analytic where |Im x| < pi. On the interval of a query's scores a Chebyshev series of it is
therefore exact to rounding with some twenty terms (L. N. Trefethen, Approximation Theory and
Approximation Practice, theorem 8.2), each term costing one pass over the block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.jit import kernel

#: half the interval that the series is made on, at least
NARROWEST = 0.5
#: how much of the strip without poles is used, and the logarithm of the error asked for
STRIP, DIGITS = 0.9, 37.0


class PairBlock(NamedTuple):
    """The pairs (b0..b1 - 1) x (begin..end - 1) of a query's documents in label order."""

    b0: int
    b1: int
    begin: int
    end: int


@kernel()
def terms(span: float) -> int:
    """Terms that the series of a query with that span of scores takes."""
    ratio = STRIP * np.pi / max(0.5 * span, NARROWEST)
    return int(DIGITS / np.log(ratio + np.sqrt(1.0 + ratio * ratio))) + 4


@kernel()
def pays(upper: int, lower: int, span: float) -> bool:
    """Whether the series takes less time than the upper * lower pairs."""
    return upper * lower > 4 * terms(span) * (upper + lower)


@kernel()
def ranknet_blocks(
    s: np.ndarray,
    u: np.ndarray,
    pairs: PairBlock,
    top: float,
    span: float,
    force: np.ndarray,
) -> float:
    """Add the forces of the pairs; return their cost.

    s: scores; u = exp(s - top), top the largest score and span the scores' range.
    """
    b0, b1, begin, end = pairs
    n = terms(span)
    half = max(0.5 * span, NARROWEST)
    middle = top - 0.5 * span
    pull, push = np.empty(n), np.empty(n)
    for k in range(n):
        v = np.exp(middle - top + half * np.cos(np.pi * (k + 0.5) / n))
        pull[k] = _share(u, begin, end, v)
        push[k] = (b1 - b0) - _share(u, b0, b1, v)
    pull, push = _coefficients(pull), _coefficients(push)
    # d/dx sum_j log(1 + e^{s_j - x}) is minus the pull: its series integrated, then the constant
    integral = np.zeros(n + 1)
    for k in range(1, n + 1):
        later = pull[k + 1] if k + 1 < n else 0.0
        integral[k] = half * (pull[k - 1] * (2.0 if k == 1 else 1.0) - later) / (2.0 * k)
    right = np.exp(-(middle - top + half))
    constant = integral.sum()
    for j in range(begin, end):
        constant += np.log1p(u[j] * right)
    cost = 0.0
    for i in range(b0, b1):
        t = (s[i] - middle) / half
        force[i] += _series(pull, t)
        cost += constant - _series(integral, t)
    for j in range(begin, end):
        force[j] -= _series(push, (s[j] - middle) / half)
    return cost


@kernel(reorder=True)
def _share(u: np.ndarray, begin: int, end: int, v: float) -> float:
    """sum of u / (u + v)."""
    total = 0.0
    for j in range(begin, end):
        total += u[j] / (u[j] + v)
    return total


@kernel()
def _coefficients(values: np.ndarray) -> np.ndarray:
    """Chebyshev coefficients from the values at cos(pi (k + 1/2) / n)."""
    n = len(values)
    found = np.zeros(n)
    for m in range(n):
        for k in range(n):
            found[m] += values[k] * np.cos(np.pi * m * (k + 0.5) / n)
        found[m] *= (1.0 if m == 0 else 2.0) / n
    return found


@kernel()
def _series(coefficients: np.ndarray, t: float) -> float:
    """sum of c_m T_m(t), by Clenshaw's recurrence."""
    before, last = 0.0, 0.0
    for m in range(len(coefficients) - 1, 0, -1):
        before, last = last, coefficients[m] + 2.0 * t * last - before
    return coefficients[0] + t * last - before
