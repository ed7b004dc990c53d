"""L-BFGS: a quasi-Newton method for any family and any differentiable loss."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.fit_warnings import FitWarning
from letorbench.losses.base import Loss
from letorbench.models.parametric import ParametricFamily
from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.objective import Objective, Solver, require_prior
from letorbench.solvers.quasi_newton import minimise
from letorbench.solvers.validation import Validation


@dataclass(frozen=True)
class LBFGS(Solver):
    """Minimise the mean loss + l2 c/2 |theta|^2 by L-BFGS.

    No validation set is used. The objective after each iteration is kept, the start's first.

    Parameters
    ----------
    l2 : float
        The strength of the prior on the penalised parameters, in units of c, the mean
        curvature of the loss at the start.
    iterations : int
        At most so many. A warning says where that was not enough.
    tolerance : float
        The search ends where no partial derivative is larger.
    flat : float
        The search also ends where a step lowers the objective by no more than this share of it.
    per_document : bool
        Whether the mean loss is over documents instead of queries.
    """

    l2: float
    iterations: int = 500
    tolerance: float = 1e-6
    flat: float = 0.0
    per_document: bool = False

    def __post_init__(self) -> None:
        require_prior(self.l2)
        if self.iterations < 1:
            raise UsageError(f"found iterations={self.iterations}, expected 1 or more")

    def fit(
        self,
        family: ParametricFamily,
        loss: Loss,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        count = train.n_docs if self.per_document else train.n_queries
        start = family.start(rng)
        objective = Objective(family, loss, train, count).with_prior(self.l2, start)
        late: list[bool] = []

        def ends() -> bool:
            late.extend([True] if deadline.passed else [])
            return bool(late)

        found = minimise(objective, start, self.iterations, self.tolerance, self.flat, ends)
        steps = len(found.history) - 1
        unfinished = late or steps >= self.iterations or self.flat == 0.0
        warnings: tuple[FitWarning, ...] = ()
        if unfinished and found.largest > 10.0 * self.tolerance:
            text = (
                f"L-BFGS stopped after {steps} iterations with a partial derivative of "
                f"{found.largest:.1e}, not below {self.tolerance:.0e}"
            )
            warnings = (FitWarning("cut off" if late else "not converged", text),)
        return FitResult(
            family.model(found.point),
            objective=tuple(found.history),
            warnings=warnings,
            cut_off=bool(late),
        )
