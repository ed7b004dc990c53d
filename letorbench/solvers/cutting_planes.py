"""One-slack cutting planes for min |w|^2 / 2 + C R(w), R convex and at least 0."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.minimum import Minimum
from letorbench.solvers.simplex_qp import maximise

#: a plane that the quadratic programme has not used for this many iterations is dropped
UNUSED = 30

#: w (n,) -> R(w), a subgradient (n,)
Oracle = Callable[[np.ndarray], tuple[float, np.ndarray]]


def minimise(
    oracle: Oracle,
    n: int,
    C: float,
    gap: float,
    iterations: int = 2000,
    deadline: Deadline = NEVER,
) -> Minimum:
    """Minimise f(w) = |w|^2 / 2 + C R(w) until (f - lower bound) <= gap * f.

    The planes R(w) >= b_k + a_k . w collected so far bound f from below by the quadratic
    programme max over alpha >= 0, sum alpha = C, of alpha . b - |sum alpha_k a_k|^2 / 2. Its
    solution w = -sum alpha_k a_k gives the next plane. R >= 0 is the first plane. The w with the
    least f is kept.

    Parameters
    ----------
    oracle : callable
        w (n,) -> R(w) and one of its subgradients (n,), which is the most violated constraint.
    n : int
    C : float
    gap : float
        The papers stop where no constraint is violated by more than an absolute epsilon. A gap
        relative to f means the same at every C.
    iterations : int
        At most so many planes.
    deadline : Deadline
        No plane but the first is added after it.

    References
    ----------
    Joachims, "Training linear SVMs in linear time", KDD 2006, Algorithm 1.

    Joachims, Finley, Yu, "Cutting-plane training of structural SVMs", Machine Learning 2009.

    Examples
    --------
    The minimum of w^2 / 2 + max(0, 1 - w):

    >>> def hinge(w):
    ...     return max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1.0 else 0.0])
    >>> found = minimise(hinge, 1, C=1.0, gap=1e-6)
    >>> found.point, float(found.value)
    (array([1.]), 0.5)
    """
    planes = _Planes(n, C)
    best, best_value, bound = np.zeros(n), np.inf, -np.inf
    values: list[float] = []
    w, late = best, False
    for _ in range(iterations):
        risk, slope = oracle(w)
        value = float(w @ w) / 2.0 + C * risk
        if value < best_value:
            best, best_value = w, value
        values.append(best_value)
        if best_value - bound <= gap * best_value:
            break
        late = len(values) > 1 and deadline.passed
        if late:
            break
        planes.add(slope, risk - float(slope @ w))
        w, lower = planes.solve()
        bound = max(bound, lower)
    return Minimum(best, best_value, best_value - bound, tuple(values), gap, late)


class _Planes:
    """The working set: the planes a_k, b_k, their Gram matrix, multipliers and idle iterations."""

    def __init__(self, n: int, C: float) -> None:
        self.slopes = np.zeros((1, n))
        self.heights = np.zeros(1)
        self.gram = np.zeros((1, 1))
        self.alpha = np.array([C])
        self.idle = np.zeros(1, dtype=np.int64)

    def add(self, slope: np.ndarray, height: float) -> None:
        """Add the plane R(w) >= height + slope . w."""
        products = np.append(self.slopes @ slope, slope @ slope)
        self.gram = np.block(
            [[self.gram, products[:-1, None]], [products[None, :-1], products[-1:, None]]]
        )
        self.slopes = np.vstack([self.slopes, slope])
        self.heights = np.append(self.heights, height)
        self.alpha = np.append(self.alpha, 0.0)
        self.idle = np.append(self.idle, 0)

    def solve(self) -> tuple[np.ndarray, float]:
        """Return w and the lower bound on f that the working set gives; drop idle planes."""
        self.alpha = maximise(self.gram, self.heights, self.alpha)
        w = -(self.alpha @ self.slopes)
        lower = float(self.alpha @ self.heights) - float(w @ w) / 2.0
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        self.idle[0] = 0
        kept = self.idle < UNUSED
        if not kept.all():
            self.slopes, self.heights = self.slopes[kept], self.heights[kept]
            self.gram = self.gram[np.ix_(kept, kept)]
            self.alpha, self.idle = self.alpha[kept], self.idle[kept]
        return w, lower
