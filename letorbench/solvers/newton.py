"""Truncated Newton: conjugate gradients or a factorisation for the step, halving for its length."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import dot, norm, scaled_solver
from letorbench.solvers.fit_result import ROUNDING, Minimum
from letorbench.solvers.stopping import NEVER, Deadline

#: a step must lower the objective by this share of what its slope promises (Armijo's rule)
SUFFICIENT = 1e-4
#: the most halvings of a step
HALVINGS = 30
#: the steps that conjugate gradients usually need; then the Hessian is factored
PATIENCE = 10
#: a step kept its promise if the fall differs from the promise by at most this share of f
KEPT = 1e-6


@dataclass(frozen=True, eq=False)
class Expansion:
    """A function at a point; `hessian_times` multiplies v (n,) by its (generalised) Hessian."""

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
    """Minimise f >= 0, where f(w) - |w|^2 / 2 is convex, until f - least f <= gap * f.

    Since f is 1-strongly convex, f(w) - least f <= |gradient|^2 / 2. The iteration stops by this
    bound, or once f is no larger than the rounding of the first f. Conjugate gradients solve each
    Newton system to a relative residual of min(1/10, sqrt(|g| / |g_0|)). Once they fail, or after
    10 steps, the Hessian is factored, since large features can make up all of a residual.

    Large features also multiply rounding, which can keep the bound large. So a factored step ends
    the iteration as well if it promises, by -gradient . step / 2, no more than the gap, and the
    step before it fell by as much as it promised: f is quadratic there. A promise no larger than
    rounding always ends it. For a piecewise quadratic f with its generalised Hessian the iteration
    is finite (Keerthi, DeCoste, "A modified finite Newton method for fast solution of large scale
    linear SVMs", JMLR 2005).
    """
    point = np.asarray(start, dtype=np.float64)
    here = expand(point)
    values = [here.value]
    late = factored = False
    steepness = first = norm(here.gradient)
    distance, kept_promise = min(steepness**2 / 2.0, here.value), False
    for _ in range(iterations):
        if distance <= max(gap * here.value, ROUNDING * values[0]):
            break
        late = len(values) > 1 and deadline.passed
        if late:
            break
        step = None
        factored = factored or len(values) > PATIENCE
        if not factored:
            forcing = min(0.1, np.sqrt(steepness / first))
            step = conjugate_gradient(here.hessian_times, -here.gradient, forcing)
            factored = step is None
        if step is None:
            step = factored_step(here.hessian_times, -here.gradient)
        promise = -dot(here.gradient, step) / 2.0
        enough = max(gap * here.value if kept_promise else 0.0, ROUNDING * values[0])
        if factored and promise <= enough:
            distance = min(distance, max(promise, 0.0))
            break
        moved = _descend(expand, point, here, step)
        if moved is None:
            break
        fall = here.value - moved[1].value
        point, here = moved
        kept_promise = abs(fall - promise) <= min(gap, KEPT) * here.value
        steepness = norm(here.gradient)
        distance = max(min(steepness**2 / 2.0, here.value), 0.0)
        values.append(here.value)
    return Minimum(point, here.value, distance, tuple(values), gap, late)


def conjugate_gradient(
    times: Callable[[np.ndarray], np.ndarray], target: np.ndarray, tolerance: float
) -> np.ndarray | None:
    """Find x with |times(x) - target| <= tolerance |target|, `times` positive definite, or None."""
    x = np.zeros_like(target)
    residual = target.copy()
    direction = residual.copy()
    squared = dot(residual, residual)
    enough = tolerance**2 * squared
    # without rounding n products are enough
    for _ in range(3 * len(target) + 10):
        if squared <= enough:
            return x
        product = times(direction)
        length = squared / dot(direction, product)
        x += length * direction
        residual -= length * product
        previous, squared = squared, dot(residual, residual)
        direction = residual + (squared / previous) * direction
    return x if squared <= enough else None


def factored_step(times: Callable[[np.ndarray], np.ndarray], target: np.ndarray) -> np.ndarray:
    """Solve times(x) = target, `times` positive definite, by factoring it and refining once."""
    matrix = np.stack([times(unit) for unit in np.eye(len(target))], axis=1)
    solve = scaled_solver((matrix + matrix.T) / 2.0)
    x = solve(target)
    return x + solve(target - times(x))


def _descend(
    expand: Callable[[np.ndarray], Expansion], point: np.ndarray, here: Expansion, step: np.ndarray
) -> tuple[np.ndarray, Expansion] | None:
    """Try the lengths 1, 1/2, 1/4, ... of a step; None if rounding hides every descent."""
    slope = dot(here.gradient, step)
    length = 1.0
    for _ in range(HALVINGS):
        there = expand(point + length * step)
        if there.value <= here.value + SUFFICIENT * length * slope:
            return point + length * step, there
        length /= 2.0
    return None
