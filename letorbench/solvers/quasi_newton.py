"""L-BFGS: minimising a differentiable function from its gradients.

SciPy's takes its products from BLAS, whose last bits differ between processors. This one gives
the same minimum to the last bit on all machines of the baseline.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.arithmetic import dot

#: how many past steps are kept
MEMORY = 20
#: Wolfe's conditions: a step must lower f by this share of what its slope promises ...
SUFFICIENT = 1e-4
#: ... and leave at most this share of the slope
CURVATURE = 0.9
#: how often f is computed in search of one step's length
TRIALS = 20

#: theta (n,) -> f(theta) and its gradient (n,)
Function = Callable[[np.ndarray], tuple[float, np.ndarray]]


@dataclass(frozen=True, eq=False)
class Found:
    """Where a search ended.

    Attributes
    ----------
    point, gradient : ndarray of shape (n,)
    history : list of float
        f at the start and after every step.
    """

    point: np.ndarray
    gradient: np.ndarray
    history: list[float]

    @property
    def largest(self) -> float:
        """The largest partial derivative, without its sign."""
        return float(np.abs(self.gradient).max(initial=0.0))


def minimise(
    function: Function,
    start: np.ndarray,
    iterations: int,
    tolerance: float,
    flat: float = 0.0,
    late: Callable[[], bool] = lambda: False,
) -> Found:
    """Minimise a function by L-BFGS with a line search for Wolfe's conditions.

    Parameters
    ----------
    function : callable
        theta (n,) -> the value and the gradient (n,). Infinity and NaN are steps too long.
    start : ndarray of shape (n,)
    iterations : int
        At most so many steps.
    tolerance : float
        The search ends where no partial derivative is larger,
    flat : float
        where a step lowers f by no more than this share of it (of 1, where f is smaller),
    late : callable
        after a step at which this returns true, or where no step lowers f.

    References
    ----------
    J. Nocedal, S. Wright: Numerical Optimization, 2nd edition, algorithms 7.4, 7.5, 3.5 and 3.6.

    Examples
    --------
    >>> found = minimise(lambda x: (dot(x - 1, x - 1), 2 * (x - 1)), np.zeros(2), 100, 1e-8)
    >>> found.point
    array([1., 1.])
    """
    point = np.asarray(start, dtype=np.float64)
    value, gradient = function(point)
    history = [value]
    memory: deque[_Pair] = deque(maxlen=MEMORY)
    while len(history) <= iterations and np.abs(gradient).max(initial=0.0) > tolerance:
        direction = _direction(gradient, memory)
        slope = dot(gradient, direction)
        length = 1.0 if memory else min(1.0, 1.0 / np.sqrt(-slope))
        end = _search(function, point, direction, _At(0.0, value, slope, gradient), length)
        if end is None:
            if not memory:
                break
            memory.clear()  # the curvature seen so far misleads: begin with the gradient again
            continue
        step = end.length * direction
        moved = point + step
        change = end.gradient - gradient
        curvature = dot(step, change)
        if curvature > np.finfo(float).eps * dot(change, change):
            memory.append(_Pair(step, change, curvature))
        fallen = value - end.value
        point, value, gradient = moved, end.value, end.gradient
        history.append(value)
        if fallen <= flat * max(abs(history[-2]), abs(value), 1.0) or late():
            break
    return Found(point, gradient, history)


class _Pair(NamedTuple):
    """A past step s, the gradient's change y along it, and s . y > 0."""

    s: np.ndarray
    y: np.ndarray
    sy: float


class _At(NamedTuple):
    """f along a direction: its value, its slope and its gradient after a step of that length."""

    length: float
    value: float
    slope: float
    gradient: np.ndarray


def _direction(gradient: np.ndarray, memory: deque[_Pair]) -> np.ndarray:
    """Return -H gradient, H the inverse Hessian that the pairs tell of (algorithm 7.4)."""
    direction = -gradient
    alphas = []
    for s, y, sy in reversed(memory):
        alphas.append(dot(s, direction) / sy)
        direction = direction - alphas[-1] * y
    if memory:
        _, y, sy = memory[-1]
        direction = direction * (sy / dot(y, y))
    for (s, y, sy), alpha in zip(memory, reversed(alphas), strict=True):
        direction = direction + (alpha - dot(y, direction) / sy) * s
    return direction


def _search(
    function: Function, point: np.ndarray, direction: np.ndarray, start: _At, length: float
) -> _At | None:
    """Find a length that fulfils Wolfe's conditions, or lowers f at least; None if none does.

    `low` is the best length so far. From it, f falls towards `high`, where it is too high or
    rises; without a `high` the length grows.
    """
    low, high = start, None
    for _ in range(TRIALS):
        value, gradient = function(point + length * direction)
        here = _At(length, value, dot(gradient, direction), gradient)
        finite = np.isfinite(here.value) and np.isfinite(here.slope)
        enough = start.value + SUFFICIENT * length * start.slope
        if not finite or here.value > enough or here.value >= low.value:
            high = here
        elif abs(here.slope) <= -CURVATURE * start.slope:
            return here
        else:
            if here.slope * ((np.inf if high is None else high.length) - low.length) >= 0.0:
                high = low
            low = here
        length = _between(low, high) if high else _beyond(start, low)
    return low if low.length > 0.0 else None


def _between(low: _At, high: _At) -> float:
    """Return the least point of the cubic through both ends, a tenth from either at least."""
    width = high.length - low.length
    share = 0.5
    if np.isfinite(high.value) and np.isfinite(high.slope):
        a = low.slope + high.slope - 3.0 * (high.value - low.value) / width
        square = a * a - low.slope * high.slope
        if square >= 0.0:
            b = np.copysign(np.sqrt(square), width)
            below = high.slope - low.slope + 2.0 * b
            share = 1.0 - (high.slope + b - a) / below if below != 0.0 else 0.5
    return low.length + min(max(share, 0.1), 0.9) * width


def _beyond(start: _At, low: _At) -> float:
    """Return a longer length: where the slope would vanish if it fell evenly, within bounds."""
    gained = low.slope - start.slope
    even = low.length * -start.slope / gained if gained > 0.0 else np.inf
    return min(max(even, 2.0 * low.length), 10.0 * low.length)
