"""Losses of one document at a time."""

from __future__ import annotations

import numpy as np

from letorbench.arithmetic import exp, log1p
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient
from letorbench.losses.segments import query_sums


def logistic(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """Return the negative log-likelihood of "relevant", r >= 1, with log-odds s."""
    y = np.where(queries.labels >= 1, 1.0, -1.0)
    margin = y * scores
    t = exp(-np.abs(margin))
    cost = log1p(t) + np.maximum(0.0, -margin)
    gradient = -y * np.where(margin > 0.0, t, 1.0) / (1.0 + t)
    return ValueAndGradient(query_sums(cost, queries), gradient)


LOSSES = (
    Loss("logistic", "sum_i log(1 + exp(-y_i s_i)), y_i = 1 where r_i >= 1, else -1", logistic),
)
