"""What planes prove: the least value of a weak ridge and planes, to a high precision.

The multipliers alpha of planes bound sum of ridge v^2 / 2 + C max_k (height_k + slope_k . v) from
below by alpha . heights - sum of (slopes' alpha)^2 / (2 ridge). With a ridge of 1e-18, as features
of a size of 1e9 have, slopes' alpha must vanish to the last digits. An interior point method gets
there: it solves for v and alpha together, and the ridge only adds to a diagonal.
"""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

#: the search ends where both sides agree to this share, or after so many steps
AGREE, STEPS = 1e-8, 60
#: how near to the border a step may go
INSIDE = 0.995


def lower_bound(slopes: np.ndarray, heights: np.ndarray, ridge: np.ndarray, C: float) -> float:
    """Return a lower bound on min over v of sum ridge v^2 / 2 + C max_k (height_k + slope_k . v).

    It is the dual value of feasible multipliers, and so a bound wherever the search ends. It is
    near the minimum but where rounding keeps the search from it.

    Parameters
    ----------
    slopes : ndarray of shape (n_planes, n), float64
    heights : ndarray of shape (n_planes,)
        At least one is 0 with a slope of 0.
    ridge : ndarray of shape (n,)
        More than 0.
    C : float

    References
    ----------
    Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal on
    Optimization 1992.

    Examples
    --------
    >>> planes = np.array([[0.0], [-1.0]]), np.array([0.0, 1.0])
    >>> round(lower_bound(*planes, np.ones(1), C=1.0), 6)
    0.5
    """
    count = len(heights)
    alpha, v = np.full(count, C / count), np.zeros(slopes.shape[1])
    t = float(heights.max()) + 1.0  # t >= every plane at v, with this slack
    slack = t - heights
    best = 0.0
    for _ in range(STEPS):
        best = max(best, _dual_value(alpha * (C / alpha.sum()), slopes, heights, ridge))
        primal = float(ridge @ (v * v)) / 2.0 + C * float((heights + slopes @ v).max())
        if primal - best <= AGREE * primal:
            break
        try:
            system = _System(slopes, heights, ridge, C, (v, t, slack, alpha))
        except np.linalg.LinAlgError:
            break
        change = system.direction(-alpha * slack)
        length = min(_longest(slack, change[2]), _longest(alpha, change[3]))
        ahead = float((alpha + length * change[3]) @ (slack + length * change[2]))
        now = float(alpha @ slack)
        centred = (max(ahead, 0.0) / now) ** 3 * now / count
        change = system.direction(centred - alpha * slack - change[3] * change[2])
        length = INSIDE * min(_longest(slack, change[2]), _longest(alpha, change[3]))
        if not length > 0.0:
            break
        v, t = v + length * change[0], t + length * change[1]
        slack, alpha = slack + length * change[2], alpha + length * change[3]
    return best


def _dual_value(
    alpha: np.ndarray, slopes: np.ndarray, heights: np.ndarray, ridge: np.ndarray
) -> float:
    pull = alpha @ slopes
    return float(alpha @ heights) - float(pull @ (pull / ridge)) / 2.0


def _longest(x: np.ndarray, change: np.ndarray) -> float:
    """Return the longest step of at most 1 that keeps x + step change >= 0."""
    falling = change < 0.0
    return min(1.0, float((-x[falling] / change[falling]).min(initial=1.0)))


class _System:
    """Newton's equations at a point (v, t, slack, alpha).

    ridge v + slopes' alpha = 0, sum alpha = C, slopes v + heights - t + slack = 0, and
    alpha slack = what `direction` is given.
    """

    def __init__(
        self,
        slopes: np.ndarray,
        heights: np.ndarray,
        ridge: np.ndarray,
        C: float,
        point: tuple[np.ndarray, float, np.ndarray, np.ndarray],
    ) -> None:
        v, t, slack, alpha = point
        self.slopes, self.slack, self.alpha = slopes, slack, alpha
        self.pull = ridge * v + alpha @ slopes
        self.lack = C - float(alpha.sum())
        self.apart = slopes @ v + heights - t + slack
        self.weight = alpha / slack
        matrix = (slopes.T * self.weight) @ slopes
        matrix[np.diag_indices_from(matrix)] += ridge
        self.scale = 1.0 / np.sqrt(np.diag(matrix))
        self.factor = cho_factor(matrix * np.outer(self.scale, self.scale))
        self.column = self.weight @ slopes
        self.solved_column = self._solve(self.column)

    def _solve(self, right: np.ndarray) -> np.ndarray:
        return self.scale * cho_solve(self.factor, self.scale * right)

    def direction(
        self, product: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """Return the changes of v, t, slack and alpha that change alpha slack by `product`."""
        base = (product + self.alpha * self.apart) / self.slack
        solved = self._solve(-self.pull - base @ self.slopes)
        pivot = float(self.weight.sum() - self.column @ self.solved_column)
        dt = float(self.column @ solved - (self.lack - base.sum())) / pivot
        dv = solved + dt * self.solved_column
        dslack = dt - self.apart - self.slopes @ dv
        return dv, dt, dslack, (product - self.alpha * dslack) / self.slack
