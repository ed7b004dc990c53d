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
#: pairs that take the time of one term of one document
PAIRS = 16
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
    n = terms(span)
    return upper * lower > PAIRS * n * (upper + lower + PAIRS // 2 * n)


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
    half = max(0.5 * span, NARROWEST)
    middle = top - 0.5 * span
    pull = pull_series(u[begin:end], middle - top, half)
    push = pull_series(u[b0:b1], middle - top, half)
    for i in range(b0, b1):
        force[i] += series(pull, (s[i] - middle) / half)
    for j in range(begin, end):
        force[j] -= (b1 - b0) - series(push, (s[j] - middle) / half)
    return series_cost(pull, s[b0:b1], u[begin:end], top, middle, half)


@kernel()
def pull_series(u: np.ndarray, middle: float, half: float) -> np.ndarray:
    """Coefficients of sum_j sigma(y_j - x) for x from middle - half to middle + half.

    u = exp(y).
    """
    n = terms(2.0 * half)
    values = np.empty(n)
    for k in range(n):
        values[k] = _share(u, np.exp(middle + half * np.cos(np.pi * (k + 0.5) / n)))
    return _coefficients(values)


@kernel()
def series_cost(
    pull: np.ndarray, x: np.ndarray, u: np.ndarray, top: float, middle: float, half: float
) -> float:
    """Return sum_ij log(1 + exp(y_j - x_i)), with the `pull_series` of u = exp(y - top).

    d/dx sum_j log(1 + e^{y_j - x}) is minus the pull: its series integrated, then the constant.
    """
    n = len(pull)
    integral = np.zeros(n + 1)
    for k in range(1, n + 1):
        later = pull[k + 1] if k + 1 < n else 0.0
        integral[k] = half * (pull[k - 1] * (2.0 if k == 1 else 1.0) - later) / (2.0 * k)
    right = np.exp(-(middle - top + half))
    constant = integral.sum()
    for j in range(len(u)):
        constant += np.log1p(u[j] * right)
    cost = 0.0
    for i in range(len(x)):
        cost += constant - series(integral, (x[i] - middle) / half)
    return cost


@kernel(reorder=True)
def _share(u: np.ndarray, v: float) -> float:
    """sum of u / (u + v)."""
    total = 0.0
    for j in range(len(u)):
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
def series(coefficients: np.ndarray, t: float) -> float:
    """sum of c_m T_m(t), by Clenshaw's recurrence."""
    before, last = 0.0, 0.0
    for m in range(len(coefficients) - 1, 0, -1):
        before, last = last, coefficients[m] + 2.0 * t * last - before
    return coefficients[0] + t * last - before
