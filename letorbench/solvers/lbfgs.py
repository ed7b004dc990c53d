"""A functional fitted to a differentiable loss by L-BFGS, with a Gaussian prior."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import Loss
from letorbench.models.functional import Functional
from letorbench.solvers.learned import Learned


@dataclass(frozen=True)
class Prior:
    """How strongly parameters are held at zero and how long the search may be.

    l2:         the penalty l2/2 |theta|^2 of the penalised parameters.
    iterations: at most; a warning says where that was not enough.
    tolerance:  the search ends where no partial derivative is larger,
    flat:       or where a step lowers the objective by less than this share of it.
    """

    l2: float
    iterations: int = 500
    tolerance: float = 1e-6
    flat: float = 0.0

    def __post_init__(self) -> None:
        if not self.l2 >= 0.0 or self.iterations < 1:
            raise UsageError(
                f"found l2={self.l2}, iterations={self.iterations}, expected 0 or more and "
                "1 or more"
            )


def minimise(
    functional: Functional,
    loss: Loss,
    queries: QuerySet,
    prior: Prior,
    count: int,
    rng: np.random.Generator,
) -> Learned:
    """Minimise the loss's sum over queries / count + l2/2 |theta|^2 (count: what to average over).

    The objective after each iteration is kept, the start's first.
    """
    from scipy.optimize import minimize

    objective = _objective(functional, loss, queries, prior, count)
    start = functional.start(rng)
    course = [objective(start)[0]]
    found = minimize(
        objective,
        start,
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: course.append(float(intermediate_result.fun)),
        options={
            "maxiter": prior.iterations,
            "maxfun": 20 * prior.iterations,
            "gtol": prior.tolerance,
            "ftol": prior.flat,
            "maxcor": 20,
        },
    )
    largest = float(np.abs(found.jac).max(initial=0.0))
    unfinished = found.nit >= prior.iterations or prior.flat == 0.0
    warnings = ()
    if unfinished and largest > 10.0 * prior.tolerance:
        warnings = (
            f"L-BFGS stopped after {found.nit} iterations with a partial derivative of "
            f"{largest:.1e}, not below {prior.tolerance:.0e}",
        )
    return Learned(functional.model(found.x), objective=tuple(course), warnings=warnings)


def _objective(
    functional: Functional, loss: Loss, queries: QuerySet, prior: Prior, count: int
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    held = prior.l2 * functional.penalised()

    def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
        scores = functional.model(theta).predict(queries.features)
        value, gradient = loss(scores, queries)
        slope = functional.pull_back(theta, queries.features, gradient) / count + held * theta
        return float(value.sum()) / count + 0.5 * float(held @ (theta * theta)), slope

    return objective
