"""Two solvers of convex problems with a guaranteed gap: truncated Newton and a bundle method.

`newton` minimises a function with a generalised Hessian: conjugate gradients or a factorisation
give the step, halving its length.

`bundle` minimises |w|^2 / 2 + C R(w), R convex and at least 0, for features of any scale. It
collects planes that touch R from below. Plain cutting planes evaluate R next at the minimum of the
planes. That point jumps from one end of the space to the other, most of all if C or the features
are large, and hundreds of planes change little. Here the next point lies between the best point so
far and that minimum, near the best point. This takes a third to a fifth of the planes on LETOR's
features at C = 10 and more, and it converges on raw features.

`minimum_of_planes` minimises over the planes. Its dual is a quadratic programme in the planes'
multipliers alpha. If features are as large as 1e9, |w|^2 hardly counts, and rounding in the dual's
matrix of all slope_k . slope_l erases the smaller features. An interior point method solves for w
and alpha together instead: |w|^2 only adds to a diagonal, and each feature is scaled by itself.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import dot, gram, norm, scaled_solver
from letorbench.models.linear import products, weighted_rows
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


def newton(
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


#: the share of the way from the best point to the planes' minimum; Franc and Sonnenburg's mu
STEP = 0.1
#: the precision of the planes' minimum, as a share of the requested gap
PRECISION = 0.1
#: the most steps of the interior point method; without rounding 20 reach every precision
STEPS = 60
#: the share of the way to the border that a step may go
INSIDE = 0.995
#: w (n,) -> R(w), a subgradient (n,)
Oracle = Callable[[np.ndarray], tuple[float, np.ndarray]]
#: w (n,), t, slack (n_planes,) and alpha (n_planes,), or changes of them
Point = tuple[np.ndarray, float, np.ndarray, np.ndarray]


def bundle(
    oracle: Oracle, n: int, C: float, gap: float, iterations: int = 1000, deadline: Deadline = NEVER
) -> Minimum:
    """Minimise f(w) = |w|^2 / 2 + C R(w) until (f - lower bound) <= gap * f.

    The lower bound is the minimum of |w|^2 / 2 + C max_k (b_k + a_k . w) over the planes
    R(w) >= b_k + a_k . w so far, of which R >= 0 is the first. The papers stop once no constraint
    is violated by more than an absolute epsilon; a gap relative to f means the same at every C.
    At least one more plane is added, even after the deadline.

    Joachims, "Training linear SVMs in linear time", KDD 2006, Algorithm 1 (the oracle's subgradient
    is its most violated constraint). Joachims, Finley, Yu, "Cutting-plane training of structural
    SVMs", Machine Learning 2009. Franc, Sonnenburg, "Optimized cutting plane algorithm for
    large-scale risk minimization", JMLR 2009, which also searches for the best point on the way to
    the planes' minimum; without that search a plane needs one value of R.
    """
    slopes, heights = [np.zeros(n)], [0.0]  # R >= 0
    w = best = np.zeros(n)
    best_value, bound = np.inf, 0.0
    values: list[float] = []
    late = False
    for _ in range(iterations):
        risk, slope = oracle(w)
        value = dot(w, w) / 2.0 + C * risk
        if value < best_value:
            best, best_value = w, value
        values.append(best_value)
        if best_value - bound <= gap * best_value:
            break
        late = len(values) > 1 and deadline.passed
        if late:
            break
        slopes.append(slope)
        heights.append(risk - dot(slope, w))
        planes = np.array(slopes), np.array(heights)
        least, point = minimum_of_planes(*planes, C, PRECISION * gap)
        bound = max(bound, least)
        w = best + STEP * (point - best)
    return Minimum(best, best_value, best_value - bound, tuple(values), gap, late)


def minimum_of_planes(
    slopes: np.ndarray, heights: np.ndarray, C: float, precision: float
) -> tuple[float, np.ndarray]:
    """Bound min |w|^2 / 2 + C max_k (height_k + slope_k . w) from below; return w (n,) near it.

    `slopes` is (n_planes, n), and one plane has a height and a slope of 0. The bound is the dual's
    value at feasible multipliers, so it holds wherever the search ends. It is within the share
    `precision` of the value at w unless rounding prevents that.

    Mehrotra, "On the implementation of a primal-dual interior point method", SIAM Journal on
    Optimization 1992.
    """
    count = len(heights)
    alpha, w = np.full(count, C / count), np.zeros(slopes.shape[1])
    t = float(heights.max()) + 1.0  # t >= every plane at w, with this slack
    slack = t - heights
    best = 0.0
    for _ in range(STEPS):
        feasible = alpha * (C / alpha.sum())
        pull = weighted_rows(slopes, feasible)
        best = max(best, dot(feasible, heights) - dot(pull, pull) / 2.0)
        primal = dot(w, w) / 2.0 + C * float((heights + products(slopes, w)).max())
        if primal - best <= precision * primal:
            break
        direction = _newton_system(slopes, heights, C, (w, t, slack, alpha))
        change = direction(-alpha * slack)
        length = min(_longest(slack, change[2]), _longest(alpha, change[3]))
        ahead = dot(alpha + length * change[3], slack + length * change[2])
        now = dot(alpha, slack)
        centred = (max(ahead, 0.0) / now) ** 3 * now / count
        change = direction(centred - alpha * slack - change[3] * change[2])
        length = INSIDE * min(_longest(slack, change[2]), _longest(alpha, change[3]))
        if not length > 0.0:
            break
        w, t = w + length * change[0], t + length * change[1]
        slack, alpha = slack + length * change[2], alpha + length * change[3]
    return best, w


def _longest(x: np.ndarray, change: np.ndarray) -> float:
    """Return the longest step of at most 1 that keeps x + step change >= 0."""
    falling = change < 0.0
    return min(1.0, float((-x[falling] / change[falling]).min(initial=1.0)))


def _newton_system(
    slopes: np.ndarray, heights: np.ndarray, C: float, point: Point
) -> Callable[[np.ndarray], Point]:
    """Return the solver of Newton's equations at a point for a change of alpha slack."""
    w, t, slack, alpha = point
    # w + slopes' alpha = 0, sum alpha = C, slopes w + heights - t + slack = 0
    pull = w + weighted_rows(slopes, alpha)
    lack = C - float(alpha.sum())
    apart = products(slopes, w) + heights - t + slack
    weight = alpha / slack
    matrix = gram(slopes * np.sqrt(weight)[:, None])
    matrix[np.diag_indices_from(matrix)] += 1.0
    solve = scaled_solver(matrix)
    column = weighted_rows(slopes, weight)
    solved_column = solve(column)

    def direction(product: np.ndarray) -> Point:
        base = (product + alpha * apart) / slack
        solved = solve(-pull - weighted_rows(slopes, base))
        pivot = float(weight.sum()) - dot(column, solved_column)
        dt = (dot(column, solved) - (lack - float(base.sum()))) / pivot
        dw = solved + dt * solved_column
        dslack = dt - apart - products(slopes, dw)
        return dw, dt, dslack, (product - alpha * dslack) / slack

    return direction
