"""L-BFGS: a quasi-Newton method for any family and any differentiable loss."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.fit_warnings import FitWarning
from letorbench.losses.base import Loss
from letorbench.models.parametric import ParametricFamily
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.objective import Objective, Solver, require_prior
from letorbench.solvers.stopping import NEVER, Deadline, Validation

if TYPE_CHECKING:
    from scipy.optimize import OptimizeResult

#: how many past steps are kept
MEMORY = 20
#: the search ends where no partial derivative is larger
TOLERANCE = 1e-6


@dataclass(frozen=True)
class LBFGS(Solver):
    """Minimise the mean loss + l2 c/2 |theta|^2 by SciPy's L-BFGS.

    No validation set is used. The objective after each iteration is kept, the start's first.

    Parameters
    ----------
    l2 : float
        The strength of the prior on the penalised parameters, in units of c, the mean
        curvature of the loss at the start.
    iterations : int
        At most so many. A warning says where that was not enough.
    flat : float
        The search also ends where a step lowers the objective by no more than this share of it.
    per_document : bool
        Whether the mean loss is over documents instead of queries.
    """

    l2: float
    iterations: int = 500
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
        from scipy.optimize import (
            minimize,  # its import takes as long as a small training
        )

        count = train.n_docs if self.per_document else train.n_queries
        start = family.start(rng)
        objective = Objective(family, loss, train, count).with_prior(self.l2, start)
        values = [objective(start)[0]]
        late = False

        def record(intermediate_result: OptimizeResult) -> None:
            nonlocal late
            values.append(float(intermediate_result.fun))
            late = deadline.passed
            if late:
                raise StopIteration

        options = {
            "maxcor": MEMORY, "maxiter": self.iterations, "maxfun": 100 * self.iterations,
            "gtol": TOLERANCE, "ftol": self.flat,
        }  # fmt: skip
        result = minimize(
            objective, start, jac=True, method="L-BFGS-B", callback=record, options=options
        )
        largest = float(np.abs(result.jac).max(initial=0.0))
        unfinished = late or result.nit >= self.iterations or self.flat == 0.0
        warnings: tuple[FitWarning, ...] = ()
        if unfinished and largest > 10.0 * TOLERANCE:
            text = (
                f"L-BFGS stopped after {result.nit} iterations with a partial derivative of "
                f"{largest:.1e}, not below {TOLERANCE:.0e}"
            )
            warnings = (FitWarning("cut off" if late else "not converged", text),)
        return FitResult(
            family.model(result.x), objective=tuple(values), warnings=warnings, cut_off=late
        )
