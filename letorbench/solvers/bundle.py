"""A proximal bundle method for min |w|^2 / 2 + C R(w), R convex and at least 0, at any scale.

Plain cutting planes (`letorbench.solvers.cutting_planes`) take their next point where the planes
so far are least. Where features are large, |w|^2 / 2 hardly holds that point: it jumps from one
end of the space to the other, and thousands of planes change little. A bundle method adds
mu/2 |v - center|^2, in units v in which the features have a comparable size, and moves the centre
where the objective falls by a good part of what the planes promise.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.features.moments import deviation_within_queries
from letorbench.models.linear import ordinary
from letorbench.solvers import cutting_planes
from letorbench.solvers.cutting_planes import Oracle
from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.minimum import Minimum
from letorbench.solvers.plane_bound import lower_bound
from letorbench.solvers.simplex_qp import maximise

#: the centre moves where the objective falls by this share of what the planes promise, and the
#: next step may be longer where it falls by the larger share
SERIOUS, GOOD = 0.1, 0.2
#: after so many points in a row that do not move the centre, the next step is shorter
FAILURES = 20
#: how many planes are kept besides one a parameter
SPARE = 30
#: the lower bound is computed anew after so many planes
BOUND_EVERY = 25


def minimise_on(
    queries: QuerySet, oracle: Oracle, C: float, gap: float, deadline: Deadline = NEVER
) -> Minimum:
    """Minimise |w|^2 / 2 + C R(w) by the method that suits the features.

    Plain cutting planes suit features of ordinary size, and the bundle method all others.

    Parameters
    ----------
    queries : QuerySet
        What R is computed from.
    oracle, C, gap, deadline
        As in `cutting_planes.minimise`.
    """
    if ordinary(queries.features).all():
        return cutting_planes.minimise(
            oracle, queries.n_features, C, gap, deadline=deadline
        )
    unit = deviation_within_queries(queries)
    return minimise(oracle, np.where(unit > 0.0, unit, 1.0), C, gap, deadline=deadline)


def minimise(
    oracle: Oracle,
    unit: np.ndarray,
    C: float,
    gap: float,
    iterations: int = 600,
    deadline: Deadline = NEVER,
) -> Minimum:
    """Minimise f(w) = |w|^2 / 2 + C R(w) until (f - lower bound) <= gap * f.

    Parameters
    ----------
    oracle : callable
        w (n,) -> R(w) and one of its subgradients (n,).
    unit : ndarray of shape (n,)
        The size of each feature: v = unit w.
    C, gap, deadline
        As in `cutting_planes.minimise`.
    iterations : int
        At most so many planes.

    References
    ----------
    Kiwiel, "Proximity control in bundle methods for convex nondifferentiable minimization",
    Mathematical Programming 1990.

    Examples
    --------
    The minimum of w^2 / 2 + max(0, 1 - w):

    >>> def hinge(w):
    ...     return max(0.0, 1.0 - w[0]), np.array([-1.0 if w[0] < 1.0 else 0.0])
    >>> round(float(minimise(hinge, np.ones(1), C=1.0, gap=1e-6).value), 6)
    0.5
    """
    ridge = unit**-2.0  # |w|^2 = sum of ridge v^2

    def at(v: np.ndarray) -> tuple[float, np.ndarray, float]:
        risk, slope = oracle(v / unit)
        slope = slope / unit
        return float(ridge @ (v * v)) / 2.0 + C * risk, slope, risk - float(slope @ v)

    planes = _Planes(ridge, C)
    center = np.zeros(len(unit))
    value, slope, height = at(center)
    planes.add(slope, height)
    # the first step has the length 1 at most
    mu = max(C * float(np.linalg.norm(slope)), np.finfo(float).tiny)
    values, bound, failures, late = [value], 0.0, 0, False
    for count in range(1, iterations + 1):
        v, model = planes.nearest(center, mu)
        promise = value - model
        if count % BOUND_EVERY == 0 or (promise <= gap * value and failures == 0):
            bound = max(bound, planes.lower_bound())
        if value - bound <= gap * value:
            break
        there, slope, height = at(v)
        planes.add(slope, height)
        fall = value - there
        if fall > 0.0 and fall >= SERIOUS * promise:
            center, value, failures = v, there, 0
            mu = mu / 2.0 if fall >= GOOD * promise else mu
        else:
            failures += 1
            if failures % FAILURES == 0:
                mu *= 2.0
        values.append(value)
        late = deadline.passed
        if late:
            break
    if value - bound > gap * value:
        bound = max(bound, planes.lower_bound())
    late = late and value - bound > gap * value
    return Minimum(center / unit, value, value - bound, tuple(values), gap, late)


class _Planes:
    """The planes R >= height + slope . v that are kept, and their multipliers, of sum C."""

    def __init__(self, ridge: np.ndarray, C: float) -> None:
        self.ridge, self.C = ridge, C
        self.slopes = np.zeros((1, len(ridge)))  # R >= 0
        self.heights = np.zeros(1)
        self.alpha = np.array([C])
        self.idle = np.zeros(1, dtype=np.int64)

    def add(self, slope: np.ndarray, height: float) -> None:
        """Add a plane; where there are too many, drop the one that is unused for longest."""
        kept = np.ones(len(self.heights), dtype=bool)
        spare = np.flatnonzero(self.alpha[1:] == 0.0) + 1
        if len(kept) >= len(self.ridge) + SPARE and len(spare):
            kept[spare[np.argmax(self.idle[spare])]] = False
        self.slopes = np.vstack([self.slopes[kept], slope])
        self.heights = np.append(self.heights[kept], height)
        self.alpha = np.append(self.alpha[kept], 0.0)
        self.idle = np.append(self.idle[kept], 0)

    def nearest(self, center: np.ndarray, mu: float) -> tuple[np.ndarray, float]:
        """Return the v where ridge v^2 / 2 + C planes + mu/2 |v - center|^2 is least.

        The second value is that sum without its last term.
        """
        weight = 1.0 / (self.ridge + mu)
        pulled = mu * weight * center
        gram = (self.slopes * weight) @ self.slopes.T
        self.alpha = maximise(gram, self.heights + self.slopes @ pulled, self.alpha)
        self.idle = np.where(self.alpha > 0.0, 0, self.idle + 1)
        v = pulled - weight * (self.alpha @ self.slopes)
        risk = float((self.heights + self.slopes @ v).max())
        return v, float(self.ridge @ (v * v)) / 2.0 + self.C * risk

    def lower_bound(self) -> float:
        """Return the bound on the least value that the planes give."""
        return lower_bound(self.slopes, self.heights, self.ridge, self.C)
