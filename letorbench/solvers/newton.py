"""Truncated Newton: conjugate gradients for the step, halving for its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.minimum import Minimum

#: a step must lower the objective by this share of what its slope promises (Armijo's rule)
SUFFICIENT = 1e-4


@dataclass(frozen=True, eq=False)
class Expansion:
    """A function at a point.

    Parameters
    ----------
    value : float
    gradient : ndarray of shape (n,)
    hessian_times : callable
        v (n,) -> the (generalised) Hessian times v, (n,).
    """

    value: float
    gradient: np.ndarray
    hessian_times: Callable[[np.ndarray], np.ndarray]


def minimise(
    expand: Callable[[np.ndarray], Expansion],
    start: np.ndarray,
    gap: float,
    iterations: int = 200,
    deadline: Deadline = NEVER,
) -> Minimum:
    """Minimise f, where f(w) - |w|^2 / 2 is convex, until f - least f <= gap * f for certain.

    Because f is 1-strongly convex, f(w) - least f <= |gradient|^2 / 2. That bound stops the
    iteration. Each Newton system is solved by conjugate gradients to a relative residual of
    min(1/10, sqrt(|g| / |g_0|)). For a piecewise quadratic f with its generalised Hessian the
    iteration ends after finitely many steps.

    Parameters
    ----------
    expand : callable
        w (n,) -> the function at w.
    start : ndarray of shape (n,)
    gap : float
    iterations : int
        At most so many steps.
    deadline : Deadline
        No step but the first begins after it.

    References
    ----------
    Keerthi, DeCoste, "A modified finite Newton method for fast solution of large scale linear
    SVMs", JMLR 2005.

    Examples
    --------
    >>> def expand(w):
    ...     return Expansion(float(w @ w) / 2 - w[0] + 1, w - [1, 0], lambda v: v)
    >>> found = minimise(expand, np.zeros(2), gap=1e-9)
    >>> found.point, float(found.value)
    (array([1., 0.]), 0.5)
    """
    point = np.asarray(start, dtype=np.float64)
    here = expand(point)
    values = [here.value]
    late = False
    norm = first_norm = float(np.linalg.norm(here.gradient))
    for _ in range(iterations):
        if norm**2 / 2.0 <= gap * here.value:
            break
        late = len(values) > 1 and deadline.passed
        if late:
            break
        forcing = min(0.1, np.sqrt(norm / first_norm))
        step = conjugate_gradient(here.hessian_times, -here.gradient, forcing)
        moved = _descend(expand, point, here, step)
        if moved is None:
            break
        point, here = moved
        norm = float(np.linalg.norm(here.gradient))
        values.append(here.value)
    return Minimum(point, here.value, norm**2 / 2.0, tuple(values), gap, late)


def conjugate_gradient(
    times: Callable[[np.ndarray], np.ndarray], target: np.ndarray, tolerance: float
) -> np.ndarray:
    """Find x with |times(x) - target| <= tolerance |target|, for a positive definite `times`.

    After 3 n + 10 products the best x so far is returned, because then rounding hinders the last
    digits.
    """
    x = np.zeros_like(target)
    residual = target.copy()
    direction = residual.copy()
    squared = float(residual @ residual)
    enough = tolerance**2 * squared
    for _ in range(3 * len(target) + 10):
        if squared <= enough:
            break
        product = times(direction)
        length = squared / float(direction @ product)
        x += length * direction
        residual -= length * product
        previous, squared = squared, float(residual @ residual)
        direction = residual + (squared / previous) * direction
    return x


def _descend(
    expand: Callable[[np.ndarray], Expansion],
    point: np.ndarray,
    here: Expansion,
    step: np.ndarray,
    halvings: int = 30,
) -> tuple[np.ndarray, Expansion] | None:
    """Try the lengths 1, 1/2, 1/4, ... of a step; None where rounding hides every descent."""
    slope = float(here.gradient @ step)
    length = 1.0
    for _ in range(halvings):
        there = expand(point + length * step)
        if there.value <= here.value + SUFFICIENT * length * slope:
            return point + length * step, there
        length /= 2.0
    return None
