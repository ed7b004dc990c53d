"""Truncated Newton: conjugate gradients for the step, halving for its length."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

#: the decrease of a step must be this share of what its slope promises (Armijo)
SUFFICIENT = 1e-4


@dataclass(frozen=True, eq=False)
class Expansion:
    """A function at a point: its value, its gradient (n,), its (generalised) Hessian's product."""

    value: float
    gradient: np.ndarray
    hessian_times: Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class Minimum:
    """Where a minimisation ended.

    point:     (n,) float64.
    gap:       a bound on value - least value.
    values:    the value at the start and after each iteration.
    converged: whether the gap asked for was reached.
    """

    point: np.ndarray
    value: float
    gap: float
    values: tuple[float, ...]
    converged: bool


def minimise(
    expand: Callable[[np.ndarray], Expansion],
    start: np.ndarray,
    gap: float,
    iterations: int = 200,
) -> Minimum:
    """Minimise f, where f(w) - |w|^2 / 2 is convex, until f - least f <= gap * f for certain.

    Because f is 1-strongly convex, f(w) - least f <= |gradient|^2 / 2: that is the bound that
    stops the iteration. Steps are Newton's, the system solved by conjugate gradients to a
    relative residual of min(1/10, sqrt(|g| / |g_0|)); for a piecewise quadratic f with its
    generalised Hessian they end in finitely many (Keerthi & DeCoste, "A modified finite Newton
    method for fast solution of large scale linear SVMs", JMLR 2005).
    """
    point = np.asarray(start, dtype=np.float64)
    here = expand(point)
    values = [here.value]
    norm = first_norm = float(np.linalg.norm(here.gradient))
    for _ in range(iterations):
        if norm**2 / 2.0 <= gap * here.value:
            break
        forcing = min(0.1, np.sqrt(norm / first_norm))
        step = conjugate_gradient(here.hessian_times, -here.gradient, forcing)
        moved = _descend(expand, point, here, step)
        if moved is None:
            break
        point, here = moved
        norm = float(np.linalg.norm(here.gradient))
        values.append(here.value)
    bound = norm**2 / 2.0
    return Minimum(point, here.value, bound, tuple(values), bound <= gap * here.value)


def conjugate_gradient(
    times: Callable[[np.ndarray], np.ndarray], target: np.ndarray, tolerance: float
) -> np.ndarray:
    """x with |times(x) - target| <= tolerance |target|, for a positive definite `times`.

    Gives the best x so far after 3 n + 10 products, where rounding hinders the last digits.
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
    """The first of the lengths 1, 1/2, 1/4, ... that descends enough; None if rounding hides it."""
    slope = float(here.gradient @ step)
    length = 1.0
    for _ in range(halvings):
        there = expand(point + length * step)
        if there.value <= here.value + SUFFICIENT * length * slope:
            return point + length * step, there
        length /= 2.0
    return None
