"""Gradient descent for any family and any differentiable loss.

`GradientDescent` takes steps of one learning rate and keeps the epoch that the validation set
chooses. `LineSearch` finds the length of each step itself and needs no tuning.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.fit_warnings import FitWarning
from letorbench.losses.base import Loss
from letorbench.models.linear import products
from letorbench.models.parametric import ParametricFamily
from letorbench.solvers.fit_result import FitResult, kept_round
from letorbench.solvers.objective import Objective, Solver, require_prior
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation

#: a step must lower the objective by this share of what the gradient promises (Armijo's rule)
ARMIJO = 1e-4
#: what a step's length is multiplied with after a success, and after a failure
LONGER, SHORTER = 2.0, 0.5
#: the search along a gradient ends after so many halvings
MOST_HALVINGS = 60


@dataclass(frozen=True)
class GradientDescent(Solver):
    """theta <- theta - learning_rate x gradient, once an epoch on the whole training set.

    With `by_query` it is once for each query, in file order, by that query's gradient. The
    objective is the mean over queries of the loss + l2 c/2 |theta|^2. The epoch that
    validation chooses is kept, or the last without a validation set.

    Parameters
    ----------
    learning_rate : float
    epochs : int
        At most so many.
    patience : int
        Training ends so many epochs after the best one on validation; 0: never.
    l2 : float
        The strength of the prior on the penalised parameters, in units of c, the mean curvature
        of the loss at the start.
    by_query : bool
    """

    learning_rate: float
    epochs: int
    patience: int = 0
    l2: float = 0.0
    by_query: bool = False

    def __post_init__(self) -> None:
        require_prior(self.l2)
        if not self.learning_rate > 0.0 or self.epochs < 1:
            raise UsageError(
                f"found learning_rate={self.learning_rate}, epochs={self.epochs}, "
                "expected more than 0 and 1 or more"
            )

    def fit(
        self,
        family: ParametricFamily,
        loss: Loss,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        theta = family.start(rng)
        objective = Objective(family, loss, train, train.n_queries).with_prior(self.l2, theta)
        parts = [objective]
        if self.by_query:
            each = (train.queries(q, q + 1) for q in range(train.n_queries))
            parts = [Objective(family, loss, part, 1).with_prior(self.l2, theta) for part in each]
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
            values.append(total / len(parts))
            if not np.isfinite(theta).all():
                text = (
                    f"epoch {epoch} gave parameters that are no numbers: the learning rate is "
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

    The objective is the mean over queries of the loss + l2 c/2 |theta|^2. Each step follows the
    negative gradient. It is tried twice as long as the last step and halved until Armijo's rule
    holds (J. Nocedal, S. Wright, "Numerical Optimization", algorithm 3.1). The descent ends
    where no step lowers the objective. No validation set is used.

    Parameters
    ----------
    iterations : int
        At most so many. A warning says where that was not enough.
    tolerance : float
        The descent also ends where the gradient is this many times as long as at the start. The
        default is small because the first lengths differ by orders of magnitude between losses:
        a larger one would stop the descent early for some losses and not for others.
    l2 : float
        The strength of the prior on the penalised parameters, in units of c, the mean curvature
        of the loss at the start.
    """

    iterations: int
    tolerance: float = 1e-8
    l2: float = 0.0

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
        theta = family.start(rng)
        objective = Objective(family, loss, train, train.n_queries).with_prior(self.l2, theta)
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
            family.model(theta), objective=tuple(history), warnings=warnings, cut_off=cut_off
        )
