"""One-slack cutting planes for min |w|^2 / 2 + C R(w), R convex and at least 0, at any scale.

Plain cutting planes take their next point where the planes so far are least. It jumps from one end
of the space to the other, most of all where C or the features are large, and hundreds of planes
change little. The next point here lies on the way to it, near the best point so far. That takes a
third to a fifth of the planes on LETOR's features at C = 10 and more, and ends on raw features.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.minimum import Minimum
from letorbench.solvers.plane_model import PlaneMinimum, minimum_of_planes

#: how far to go from the best point to the planes' minimum; Franc and Sonnenburg's mu
STEP = 0.1

#: a plane whose multiplier is below this share of the mean one is idle, and dropped when it was so
#: for as many iterations
IDLE, UNUSED = 1e-6, 50

#: the planes' minimum is found to this share of the gap that is asked for
PRECISION = 0.1

#: w (n,) -> R(w), a subgradient (n,)
Oracle = Callable[[np.ndarray], tuple[float, np.ndarray]]


def minimise(
    oracle: Oracle,
    n: int,
    C: float,
    gap: float,
    iterations: int = 1000,
    deadline: Deadline = NEVER,
) -> Minimum:
    """Minimise f(w) = |w|^2 / 2 + C R(w) until (f - lower bound) <= gap * f.

    The least value of |w|^2 / 2 + C max_k (b_k + a_k . w), over the planes R(w) >= b_k + a_k . w
    collected so far, is a lower bound. The next plane touches R at a tenth of the way from the
    best w so far to the w of that least value. R >= 0 is the first plane.

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

    Franc, Sonnenburg, "Optimized cutting plane algorithm for large-scale risk minimization",
    JMLR 2009. It also searches for the best point on the way; without that search a plane needs
    one value of R.

    Examples
    --------
    The minimum of w^2 / 2 + max(0, 1 - w):

    >>> def hinge(w):
    ...     return max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1.0 else 0.0])
    >>> round(float(minimise(hinge, 1, C=1.0, gap=1e-6).value), 6)
    0.5
    """
    planes = _Planes(n, C)
    w = best = np.zeros(n)
    best_value, bound = np.inf, 0.0
    values: list[float] = []
    late = False
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
        least = planes.minimum(PRECISION * gap)
        bound = max(bound, least.bound)
        w = best + STEP * (least.point - best)
    return Minimum(best, best_value, best_value - bound, tuple(values), gap, late)


class _Planes:
    """The planes R(w) >= height + slope . w that are kept, and for how long they are idle."""

    def __init__(self, n: int, C: float) -> None:
        self.C = C
        self.slopes = np.zeros((1, n))  # R >= 0
        self.heights = np.zeros(1)
        self.idle = np.zeros(1, dtype=np.int64)

    def add(self, slope: np.ndarray, height: float) -> None:
        """Add a plane; drop those that are unused for too long."""
        kept = self.idle < UNUSED
        kept[0] = True
        self.slopes = np.vstack([self.slopes[kept], slope])
        self.heights = np.append(self.heights[kept], height)
        self.idle = np.append(self.idle[kept], 0)

    def minimum(self, precision: float) -> PlaneMinimum:
        """Return where |w|^2 / 2 + C max_k (height_k + slope_k . w) is least."""
        found = minimum_of_planes(self.slopes, self.heights, self.C, precision)
        used = found.multipliers > IDLE * self.C / len(self.heights)
        self.idle = np.where(used, 0, self.idle + 1)
        return found
