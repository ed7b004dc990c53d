"""A small dense quadratic programme over a simplex, to high precision, from a warm start.

SciPy's SLSQP finds the same value to about 1e-11, but takes some 100 times as long: 116 ms against
1.3 ms for 40 variables, 445 ms against 2.7 ms for 100. Cutting planes solve one for each plane.
"""

from __future__ import annotations

import numpy as np

#: added to the diagonal, relative to its largest entry, so that every system is regular
RIDGE = 1e-13

#: a promise below this is rounding, relative to the terms that it is the difference of
PROMISE = 1e-13


def maximise(gram: np.ndarray, heights: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Maximise alpha . heights - alpha . gram alpha / 2 over alpha >= 0, sum alpha = sum start.

    The primal active-set method: solve on the support as if the signs were free. Where an alpha
    comes out negative, go to the boundary and drop its index. Otherwise let the index with the
    largest promise in, until none promises more. Every alpha on the way is feasible, so its value
    is a valid lower bound even if 20 n solves are not enough.

    Parameters
    ----------
    gram : ndarray of shape (n, n), float64
        Positive semidefinite.
    heights : ndarray of shape (n,)
    start : ndarray of shape (n,)
        A feasible point; a good one saves solves.

    Returns
    -------
    ndarray of shape (n,)
        alpha.

    References
    ----------
    Nocedal, Wright, "Numerical Optimization", Algorithm 16.3.

    Examples
    --------
    >>> maximise(np.eye(2), np.array([1.0, 0.5]), np.array([1.0, 0.0]))
    array([0.75, 0.25])
    """
    n, total = len(heights), float(start.sum())
    ridge = RIDGE * max(float(np.diag(gram).max()), np.finfo(float).tiny)
    alpha = start.copy()
    support = alpha > 0.0
    for _ in range(20 * n):
        inside = np.flatnonzero(support)
        target, level = _on_support(gram, heights, inside, total, ridge)
        if target.min() > 0.0:
            alpha[:] = 0.0
            alpha[inside] = target
            pull = gram[:, inside] @ target
            promise = heights - pull - level
            promise[inside] = 0.0
            scale = np.abs(heights) + np.abs(pull) + abs(level)
            entering = int(np.argmax(promise - PROMISE * scale))
            if promise[entering] <= PROMISE * scale[entering]:
                break
            support[entering] = True
            continue
        current = alpha[inside]
        falling = target <= 0.0
        drop = current - target
        ratio = np.where(falling, current / np.where(drop > 0.0, drop, 1.0), 2.0)
        leaving = int(np.argmin(ratio))
        alpha[inside] = np.maximum(current + ratio[leaving] * (target - current), 0.0)
        alpha[inside[leaving]] = 0.0
        support[inside[leaving]] = False
    return alpha * (total / alpha.sum())


def _on_support(
    gram: np.ndarray, heights: np.ndarray, inside: np.ndarray, total: float, ridge: float
) -> tuple[np.ndarray, float]:
    """Return the stationary point on these indices with sum = total, and its multiplier."""
    n = len(inside)
    system = np.ones((n + 1, n + 1))
    system[:n, :n] = gram[np.ix_(inside, inside)]
    system[np.arange(n), np.arange(n)] += ridge
    system[n, n] = 0.0
    solved = np.linalg.solve(system, np.append(heights[inside], total))
    return solved[:n], float(solved[n])
