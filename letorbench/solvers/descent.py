"""Solvers that fit any parametric family to any differentiable loss.

`GradientDescent` takes steps of one learning rate and keeps the epoch that the validation set
chooses. `LineSearch` finds the length of each step itself and needs no tuning. `LBFGS` needs the
fewest steps.
"""

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.fit_warnings import FitWarning
from letorbench.losses.base import Loss
from letorbench.models.linear import products
from letorbench.models.parametric import ParametricFamily
from letorbench.solvers.fit_result import FitResult, kept_round
from letorbench.solvers.objective import Objective
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation

#: a step must lower the objective by this share of what the gradient promises (Armijo's rule)
ARMIJO = 1e-4
#: what a step's length is multiplied with after a success, and after a failure
LONGER, SHORTER = 2.0, 0.5
#: the search along a gradient ends after so many halvings
MOST_HALVINGS = 60
#: how many past steps L-BFGS keeps
MEMORY = 20
#: L-BFGS ends where no partial derivative is larger
TOLERANCE = 1e-6


class Solver(ABC):
    """A way to minimise the mean over queries of the loss + l2 c/2 |theta|^2.

    Attributes
    ----------
    l2 : float
        The strength of the prior on the penalised parameters, in units of c, the mean curvature
        of the loss at the start.
    per_document : bool
        Whether the mean loss is over documents instead of queries.
    """

    l2: float
    per_document: bool = False

    def fit(
        self,
        family: ParametricFamily,
        loss: Loss,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        """Return the model of the family that fits the training set, or as far as time allows."""
        start = family.start(rng)
        count = (train.document_weights if self.per_document else train.query_weights).sum()
        objective = Objective(family, loss, train, float(count)).with_prior(self.l2, start)
        return self.minimise(objective, start, validation, deadline)

    @abstractmethod
    def minimise(
        self,
        objective: Objective,
        theta: np.ndarray,
        validation: Validation | None,
        deadline: Deadline,
    ) -> FitResult:
        """Return the model at the minimum of the objective; its history begins at theta."""


@dataclass(frozen=True)
class GradientDescent(Solver):
    """theta <- theta - learning_rate x gradient, once an epoch on the whole training set.

    With `by_query` it is once for each query, in file order, by that query's gradient. The
    epoch that validation chooses is kept, or the last without a validation set.

    Parameters
    ----------
    learning_rate : float
    epochs : int
        At most so many.
    patience : int
        Training ends so many epochs after the best one on validation; 0: never.
    l2 : float
        See `Solver`.
    by_query : bool
    """

    learning_rate: float
    epochs: int
    patience: int
    l2: float = 0.0
    by_query: bool = False

    def minimise(
        self,
        objective: Objective,
        theta: np.ndarray,
        validation: Validation | None,
        deadline: Deadline,
    ) -> FitResult:
        family, train, parts = objective.family, objective.queries, [objective]
        if self.by_query:
            each = (train.queries(q, q + 1) for q in range(train.n_queries))
            alone = [Objective(family, objective.loss, part, 1) for part in each]
            parts = [part.with_prior(self.l2, theta) for part in alone]
        models = [family.model(theta)]
        epochs = EarlyStopping(self.patience, deadline, validation)
        values: list[float] = []
        warnings: tuple[FitWarning, ...] = ()
        for epoch in range(1, self.epochs + 1):
            total = 0.0
            for part in parts:
                value, gradient = part(theta)
                total += value
                theta = theta - self.learning_rate * gradient
            values.append(total / (objective.count if self.by_query else 1.0))
            if not np.isfinite(theta).all():
                text = (
                    f"epoch {epoch} gave parameters that are not finite: the learning rate is "
                    "too large"
                )
                warnings = (FitWarning("no numbers", text),)
                break
            models.append(family.model(theta))
            epochs.measure(models[-1])
            if epochs.over:
                break
        return kept_round(epochs, models.__getitem__, self.epochs, values, warnings)


@dataclass(frozen=True)
class LineSearch(Solver):
    """Gradient descent whose objective never rises.

    Each step follows the negative gradient. It is tried twice as long as the last step and halved
    until Armijo's rule holds (J. Nocedal, S. Wright, "Numerical Optimization", algorithm 3.1). The
    descent ends where no step lowers the objective. No validation set is used.

    Parameters
    ----------
    iterations : int
        At most so many. A warning says where that was not enough.
    tolerance : float
        The descent also ends where the gradient is this many times as long as at the start. The
        default is small because the first lengths differ by orders of magnitude between losses:
        a larger one would stop the descent early for some losses and not for others.
    l2 : float
        See `Solver`.
    """

    iterations: int
    tolerance: float = 1e-8
    l2: float = 0.0

    def minimise(
        self,
        objective: Objective,
        theta: np.ndarray,
        validation: Validation | None,
        deadline: Deadline,
    ) -> FitResult:
        value, gradient = objective(theta)
        history = [value]
        first = steepness = math.sqrt(products(gradient[None], gradient)[0])
        length = 1.0 / first if first > 0.0 else 0.0
        cut_off = False
        while len(history) <= self.iterations and steepness > self.tolerance * first:
            cut_off = len(history) > 1 and deadline.passed
            if cut_off:
                break
            length *= LONGER
            for _ in range(MOST_HALVINGS):
                trial = theta - length * gradient
                value, trial_gradient = objective(trial)
                if value <= history[-1] - ARMIJO * length * steepness**2:
                    break
                length *= SHORTER
            else:
                break
            theta, gradient = trial, trial_gradient
            steepness = math.sqrt(products(gradient[None], gradient)[0])
            history.append(value)
        warnings: tuple[FitWarning, ...] = ()
        if (cut_off or len(history) > self.iterations) and steepness > self.tolerance * first:
            text = (
                f"gradient descent ended after {len(history) - 1} iterations with a gradient "
                f"{steepness / first:.1e} times as long as at the start"
            )
            warnings = (FitWarning("cut off" if cut_off else "not converged", text),)
        return FitResult(
            objective.family.model(theta),
            objective=tuple(history),
            warnings=warnings,
            cut_off=cut_off,
        )


@dataclass(frozen=True)
class LBFGS(Solver):
    """SciPy's L-BFGS, a quasi-Newton method. No validation set is used.

    Parameters
    ----------
    l2 : float
        See `Solver`.
    iterations : int
        At most so many. A warning says where that was not enough.
    flat : float
        The search also ends where a step lowers the objective by no more than this share of it.
    per_document : bool
        Whether the mean loss is over documents instead of queries.
    """

    l2: float
    iterations: int
    flat: float = 0.0
    per_document: bool = False

    def minimise(
        self,
        objective: Objective,
        theta: np.ndarray,
        validation: Validation | None,
        deadline: Deadline,
    ) -> FitResult:
        from scipy.optimize import OptimizeResult, minimize  # takes as long as a small training

        values = [objective(theta)[0]]
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
            objective, theta, jac=True, method="L-BFGS-B", callback=record, options=options
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
            objective.family.model(result.x),
            objective=tuple(values),
            warnings=warnings,
            cut_off=late,
        )
