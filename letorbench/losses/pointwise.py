"""Losses of one document at a time."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import register
from letorbench.losses.segments import sums


@register("logistic", "sum_i log(1 + exp(-y_i s_i)), y_i = 1 where r_i >= 1, else -1")
def logistic(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """The negative log-likelihood of "relevant", r >= 1, with log-odds s."""
    y = np.where(queries.labels >= 1, 1.0, -1.0)
    margin = y * scores
    t = np.exp(-np.abs(margin))
    cost = np.log1p(t) + np.maximum(0.0, -margin)
    return sums(cost, queries), -y * np.where(margin > 0.0, t, 1.0) / (1.0 + t)
