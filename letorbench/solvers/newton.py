"""Newton's method for smooth losses of linear models."""

import math
from collections.abc import Iterator

import numpy as np

from letorbench.compiled.arithmetic import dot, norm
from letorbench.solvers.descent import LBFGS, Point, wolfe_step
from letorbench.solvers.objective import Objective, Whitened

#: how far apart the gradients are whose difference is a product with the Hessian, in max(1, |u|)
APART = 1e-5
#: the residual at which conjugate gradients end, of the gradient at most
FORCING = 0.1


class Newton(LBFGS):
    """Truncated Newton: conjugate gradients solve each system (Nocedal, Wright, algorithm 7.1).

    L-BFGS takes X'X for the shape of the Hessian. A loss such as sum e^s is curved by e^s, which
    spans orders of magnitude on the way, and L-BFGS then needs hundreds of steps.
    """

    def steps(self, objective: Objective | Whitened, start: Point) -> Iterator[Point]:
        point, first = start, norm(start.gradient)
        while True:
            forcing = min(FORCING, math.sqrt(norm(point.gradient) / first))
            direction = newton_step(objective, point, forcing)
            further = wolfe_step(objective, point, direction, 1.0)
            if further is None:
                return
            yield (point := further)


def newton_step(objective: Objective | Whitened, point: Point, forcing: float) -> np.ndarray:
    """Return a step to the minimum of the quadratic model at a point, up to `forcing`."""
    step = np.zeros_like(point.theta)
    residual = -point.gradient
    direction, squared = residual.copy(), dot(residual, residual)
    enough = forcing**2 * squared
    for k in range(2 * len(step)):
        product = hessian_times(objective, point, direction)
        curvature = dot(direction, product)
        if not curvature > 0.0:
            return step if k else direction
        length = squared / curvature
        step += length * direction
        residual -= length * product
        previous, squared = squared, dot(residual, residual)
        if squared <= enough:
            break
        direction = residual + (squared / previous) * direction
    return step


def hessian_times(
    objective: Objective | Whitened, point: Point, direction: np.ndarray
) -> np.ndarray:
    """Return the Hessian times a direction (n,), a difference of two gradients."""
    h = APART * max(1.0, norm(point.theta)) / norm(direction)
    ahead, behind = (objective(point.theta + step * direction)[1] for step in (h, -h))
    return (ahead - behind) / (2.0 * h)
