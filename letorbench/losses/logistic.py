"""Logistic losses of documents: is it relevant, and is it the best of its query."""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import exp, log, log1p
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient
from letorbench.losses.gains import inverse_or_zero, query_maxima, query_sums


@dataclass(frozen=True)
class Logistic(Loss):
    """The negative log-likelihood of "relevant", r >= 1, with log-odds s."""

    name = "logistic"
    formula = "sum_i log(1 + exp(-y_i s_i)), y_i = 1 where r_i >= 1, else -1"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        y = np.where(queries.labels >= 1, 1.0, -1.0)
        margin = y * scores
        e = exp(-np.abs(margin))
        cost = log1p(e) + np.maximum(0.0, -margin)
        slope = -y * np.where(margin > 0.0, e, 1.0) / (1.0 + e)
        return ValueAndGradient(query_sums(cost, queries), slope)


@dataclass(frozen=True)
class MulticlassLogistic(Loss):
    """The multiclass logistic loss: -log softmax(s) of the best document.

    T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equation
    5. The paper has one best document in a query. Of several, this is the mean of their losses,
    which is convex too. A query without relevant documents has no loss.
    """

    name = "mcl"
    formula = "-log softmax(s) of the best document (several: the mean)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        p = best_documents(queries)
        has_best = query_sums(p, queries)
        shifted = scores - np.repeat(query_maxima(scores, queries), queries.lengths)
        e = exp(shifted)
        z = np.where(queries.lengths > 0, query_sums(e, queries), 1.0)
        value = has_best * log(z) - query_sums(p * shifted, queries)
        return ValueAndGradient(value, np.repeat(has_best / z, queries.lengths) * e - p)


def best_documents(queries: QuerySet) -> np.ndarray:
    """Return 1 / n for the n documents of a query's highest label above 0, else 0, (n_docs,)."""
    labels = queries.labels.astype(np.float64)
    highest = np.repeat(query_maxima(labels, queries), queries.lengths)
    best = ((labels == highest) & (labels > 0)).astype(np.float64)
    return best * np.repeat(inverse_or_zero(query_sums(best, queries)), queries.lengths)
