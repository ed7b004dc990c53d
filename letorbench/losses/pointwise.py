"""Losses of one document at a time.

`reference` is the logistic loss of each document in plain NumPy; the compiled kernel below equals
it to the last bit.
"""

from __future__ import annotations

import numpy as np

from letorbench.arithmetic import exp, log1p
from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel
from letorbench.losses.base import Loss, ValueAndGradient
from letorbench.losses.segments import query_sums
from letorbench.threads import parallel_for


def reference(scores: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the cost of each document, and its derivative by the score."""
    y = np.where(labels >= 1, 1.0, -1.0)
    margin = y * scores
    t = exp(-np.abs(margin))
    cost = log1p(t) + np.maximum(0.0, -margin)
    return cost, -y * np.where(margin > 0.0, t, 1.0) / (1.0 + t)


def logistic(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """Return the negative log-likelihood of "relevant", r >= 1, with log-odds s."""
    cost, gradient = np.empty((2, queries.n_docs))

    def part(first: int, last: int) -> None:
        _logistic(scores, queries.labels, first, last, cost, gradient)

    parallel_for(part, queries.n_docs, least=4_000)
    return ValueAndGradient(query_sums(cost, queries), gradient)


LOSSES = (
    Loss("logistic", "sum_i log(1 + exp(-y_i s_i)), y_i = 1 where r_i >= 1, else -1", logistic),
)


@kernel()
def _logistic(
    scores: np.ndarray,
    labels: np.ndarray,
    first: int,
    last: int,
    cost: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """Fill cost and gradient for the documents first..last - 1."""
    for i in range(first, last):
        y = 1.0 if labels[i] >= 1 else -1.0
        margin = y * scores[i]
        t = np.exp(-abs(margin))
        cost[i] = np.log1p(t) + max(0.0, -margin)
        gradient[i] = -y * (t if margin > 0.0 else 1.0) / (1.0 + t)
