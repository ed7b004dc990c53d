"""A linear score fitted to a differentiable loss: gradient descent, and L-BFGS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels import in_threads, nets
from letorbench.losses import Loss
from letorbench.rankers.base import Learned, Validation
from letorbench.scorers import Linear

#: documents whose share of a gradient is summed by itself, whatever the number of threads
ROWS = 4096


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
        step = pull_back(queries.features, gradient) / queries.n_queries
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


def minimise(
    loss: Loss, queries: QuerySet, l2: float, iterations: int, tolerance: float = 1e-6
) -> Learned:
    """L-BFGS on the mean over documents of a loss plus l2/2 |w|^2, with an intercept.

    Runs until no partial derivative is larger than `tolerance`; says so when the iterations
    end before that.
    """
    from scipy.optimize import minimize

    objective = _objective(loss, queries, l2)
    course = [objective(np.zeros(queries.n_features + 1))[0]]
    found = minimize(
        objective,
        np.zeros(queries.n_features + 1),
        jac=True,
        method="L-BFGS-B",
        callback=lambda intermediate_result: course.append(float(intermediate_result.fun)),
        options={"maxiter": iterations, "gtol": tolerance, "ftol": 0.0, "maxcor": 20},
    )
    largest = float(np.abs(found.jac).max())
    warnings = ()
    if largest > 10.0 * tolerance:
        warnings = (
            f"L-BFGS stopped after {found.nit} iterations with a partial derivative of "
            f"{largest:.1e}, not below {tolerance:.0e}",
        )
    scorer = Linear(found.x[:-1], float(found.x[-1]))
    return Learned(scorer, objective=tuple(course), warnings=warnings)


def _objective(
    loss: Loss, queries: QuerySet, l2: float
) -> Callable[[np.ndarray], tuple[float, np.ndarray]]:
    def objective(parameters: np.ndarray) -> tuple[float, np.ndarray]:
        w, b = parameters[:-1], float(parameters[-1])
        value, gradient = loss(Linear(w, b).predict(queries.features), queries)
        slope = np.append(pull_back(queries.features, gradient), gradient.sum()) / queries.n_docs
        slope[:-1] += l2 * w
        return float(value.sum()) / queries.n_docs + 0.5 * l2 * float(w @ w), slope

    return objective


def pull_back(features: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """(n_features,) sum over documents of gradient_i x_i, from blocks summed in a fixed order."""
    n_blocks = -(-len(features) // ROWS)
    parts = np.zeros((n_blocks, 1, features.shape[1]))
    column = np.ascontiguousarray(gradient, dtype=np.float64)[:, None]

    def part(start: int, stop: int) -> None:
        for block in range(start, stop):
            begin, end = block * ROWS, min((block + 1) * ROWS, len(features))
            nets.accumulate(features, begin, end, column[begin:end], parts[block])

    in_threads(part, n_blocks)
    return parts.sum(axis=0)[0]
