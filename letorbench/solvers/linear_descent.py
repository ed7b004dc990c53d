"""A linear score fitted to a differentiable loss by gradient descent."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import Loss
from letorbench.models import Linear
from letorbench.models.weighted_rows import weighted_rows
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation


@dataclass(frozen=True)
class Descent:
    """Plain gradient descent on the mean over queries of a loss, from zero weights.

    patience: epochs without a better validation measure after which it ends; 0: never.
    """

    learning_rate: float
    epochs: int
    patience: int = 0


def descend(
    loss: Loss, queries: QuerySet, validation: Validation | None, descent: Descent
) -> Learned:
    """Keep the epoch that validation likes best (the first of equals), or else the last."""
    if not descent.learning_rate > 0.0 or descent.epochs < 1:
        raise UsageError(
            f"found learning_rate={descent.learning_rate}, epochs={descent.epochs}, "
            "expected more than 0 and 1 or more"
        )
    weights, best, kept = np.zeros(queries.n_features), 0, Linear(np.zeros(queries.n_features))
    curve: list[float] = []
    values: list[float] = []
    warnings: tuple[str, ...] = ()
    for number in range(1, descent.epochs + 1):
        value, gradient = loss(Linear(weights).predict(queries.features), queries)
        values.append(float(value.mean()))
        step = weighted_rows(queries.features, gradient) / queries.n_queries
        weights = weights - descent.learning_rate * step
        if not np.isfinite(weights).all():
            warnings = (f"the weights grew past all numbers in epoch {number}",)
            break
        if validation is None:
            best, kept = number, Linear(weights)
            continue
        scorer = Linear(weights)
        curve.append(validation(scorer.predict(validation.queries.features)))
        if len(curve) == 1 or curve[-1] > curve[best - 1]:
            best, kept = number, scorer
        elif descent.patience and number - best >= descent.patience:
            break
    return Learned(kept, tuple(curve), best, tuple(values), warnings)
