"""Gradient descent that asks for no tuning: steps by backtracking."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import Loss
from letorbench.models.functional import Functional
from letorbench.solvers.learned import Learned

#: a step must lower the objective by this share of what the gradient promises (Armijo's rule)
PROMISE = 1e-4
#: what a step's length is multiplied with after a success, and after a failure
LONGER, SHORTER = 2.0, 0.5
#: halvings after which there is no lower point along the gradient
MOST_HALVINGS = 60


def descend_steepest(
    functional: Functional,
    loss: Loss,
    queries: QuerySet,
    iterations: int,
    tolerance: float = 1e-8,
) -> Learned:
    """Minimise the mean over queries of the loss from zero parameters; it never rises.

    Every step is along the negative gradient, first twice as long as the last one, then
    halved until Armijo's rule holds (J. Nocedal, S. Wright, Numerical Optimization, algorithm
    3.1). Ends where the gradient is `tolerance` times its first length or no step lowers the
    objective; a warning says where the iterations end before. The tolerance is so small
    because first lengths differ by orders of magnitude between losses: a larger one would stop
    some of them on the way and not others.
    """
    if iterations < 1:
        raise UsageError(f"found iterations={iterations}, expected 1 or more")

    def at(theta: np.ndarray) -> tuple[float, np.ndarray]:
        value, slope = loss(functional.model(theta).predict(queries.features), queries)
        back = functional.pull_back(theta, queries.features, slope)
        return float(value.mean()), back / queries.n_queries

    theta = np.zeros(functional.n_parameters)
    value, gradient = at(theta)
    objective = [value]
    first = float(np.linalg.norm(gradient))
    length = 1.0 / first if first > 0.0 else 0.0
    steepness = first
    while len(objective) <= iterations and steepness > tolerance * first:
        length *= LONGER
        for _ in range(MOST_HALVINGS):
            trial = theta - length * gradient
            value, slope = at(trial)
            if value <= objective[-1] - PROMISE * length * steepness**2:
                break
            length *= SHORTER
        else:
            break
        theta, gradient = trial, slope
        steepness = float(np.linalg.norm(gradient))
        objective.append(value)
    warnings = ()
    if len(objective) > iterations and steepness > tolerance * first:
        warnings = (
            f"gradient descent ended after {iterations} iterations with a gradient "
            f"{steepness / first:.1e} times as long as at the start",
        )
    return Learned(functional.model(theta), objective=tuple(objective), warnings=warnings)

