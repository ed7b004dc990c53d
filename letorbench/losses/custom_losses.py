"""Losses of users: functions of the scores and the labels of one query.

    def squares(scores, labels):
        return ((scores - labels) ** 2).sum(), 2 * (scores - labels)

The function returns the value and the derivative by each score, in file order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from letorbench.datasets.arrays import read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.losses.base import CustomLoss, Loss, ValueAndGradient
from letorbench.losses.gains import query_sums
from letorbench.measures.measure import described
from letorbench.source import users_digest

#: the numbers of queries, points and directions on which a gradient is checked
CHECKED_QUERIES, POINTS, DIRECTIONS = 5, 2, 3
#: the step of the finite differences, and their largest error, relative to the terms' sum
STEP, TOLERANCE = 1e-5, 1e-4


@dataclass(frozen=True)
class PerQueryFunction:
    """A function (scores, labels) -> (value, gradient) of one query as that of a `CustomLoss`."""

    function: Callable[[np.ndarray, np.ndarray], tuple[float, np.ndarray]]
    name: str

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        """Return the loss of each query; DataError if the function fails."""
        out = ValueAndGradient(np.zeros(queries.n_queries), np.zeros(queries.n_docs))
        scores, labels = read_only(scores), queries.labels
        for q, (a, b) in enumerate(pairwise(queries.offsets.tolist())):
            if a == b:
                continue
            try:
                value, gradient = self.function(scores[a:b], labels[a:b])
                out.value[q], slope = value, np.asarray(gradient, dtype=np.float64)
            except FAILURES as error:
                cause = " ".join(f"{type(error).__name__}: {error}".split())
                raise DataError(
                    f"loss {self.name}: {cause}; expected (value, gradient) of a query"
                ) from error
            if slope.shape != (b - a,):
                raise DataError(
                    f"loss {self.name}: found a gradient of shape {slope.shape}, expected "
                    f"({b - a},), one a document"
                )
            out.gradient[a:b] = slope
        return out


def loss_of(function: Any, name: str = "") -> CustomLoss:
    """Return a user's function as a loss; UsageError if it has no name or other arguments."""
    name, text, source = described(function, name, "loss", "(scores, labels)")
    return CustomLoss(name, text, PerQueryFunction(function, name), source)


def source_of(loss: Loss) -> str:
    """Return the digest of a user's loss, "" for a loss of the package."""
    return loss.source if isinstance(loss, CustomLoss) else users_digest(type(loss))


def require_gradient(loss: Loss, train: QuerySet) -> None:
    """Raise UsageError if the gradient of a loss contradicts central differences of its value."""
    starts = train.offsets[:-1][train.lengths > 0]
    several = np.maximum.reduceat(train.labels, starts) > np.minimum.reduceat(train.labels, starts)
    filled = np.flatnonzero(train.lengths > 0)
    queries = train.take(np.append(filled[several], filled)[:CHECKED_QUERIES])
    k = np.arange(1, queries.n_docs + 1, dtype=np.float64)
    off, last = [], (np.empty(0), np.empty(0))
    for root in np.sqrt([2.0, 3.0])[:POINTS]:
        scores = 3.0 * np.sin(k * k * root)
        gradient = loss(scores, queries).gradient
        for other in np.sqrt([5.0, 7.0, 11.0])[:DIRECTIONS]:
            along = np.cos(k * k * other)
            ahead, behind = (loss(scores + h * along, queries).value for h in (STEP, -STEP))
            slope, numeric = query_sums(gradient * along, queries), (ahead - behind) / (2.0 * STEP)
            room = query_sums(np.abs(gradient * along), queries) + np.abs(numeric)
            error = np.abs(ahead) * np.finfo(float).eps / STEP
            off.append(~(np.abs(slope - numeric) <= TOLERANCE * room + 10.0 * error))
            last = slope, numeric
    wrong = np.mean(off, axis=0) > 0.5  # a kink may spoil some of the differences, not most
    if wrong.any():
        q = int(wrong.argmax())
        raise UsageError(
            f"loss {loss}: found a gradient of {last[0][q]:.6g} along a direction, expected "
            f"{last[1][q]:.6g} by finite differences of its value (query {queries.qids[q]})"
        )
