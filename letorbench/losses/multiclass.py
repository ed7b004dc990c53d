"""The multiclass logistic loss: which document of a query is the best one.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012,
equation 5.
"""

from __future__ import annotations

import numpy as np

from letorbench.arithmetic import exp, log
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient
from letorbench.losses.segments import (
    broadcast_to_docs,
    inverse_or_zero,
    query_maxima,
    query_sums,
)


def best_documents(queries: QuerySet) -> np.ndarray:
    """Return 1 / n for the n documents of a query's highest label and 0 for others, (n_docs,).

    All are zero in a query without relevant documents.
    """
    labels = queries.labels.astype(np.float64)
    highest = broadcast_to_docs(query_maxima(labels, queries), queries)
    best = ((labels == highest) & (labels > 0)).astype(np.float64)
    return best * broadcast_to_docs(inverse_or_zero(query_sums(best, queries)), queries)


def multiclass_logistic(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """Return equation 5: -log softmax(s) of the best document.

    The paper has one best document in a query. Of several, this is the mean of their losses,
    which is convex too. A query without relevant documents has no best document and no loss.
    """
    p = best_documents(queries)
    has_best = query_sums(p, queries)
    shifted = scores - broadcast_to_docs(query_maxima(scores, queries), queries)
    e = exp(shifted)
    z = np.where(queries.lengths > 0, query_sums(e, queries), 1.0)
    value = has_best * log(z) - query_sums(p * shifted, queries)
    return ValueAndGradient(value, broadcast_to_docs(has_best / z, queries) * e - p)


LOSSES = (
    Loss("mcl", "-log softmax(s) of the best document (several: the mean)", multiclass_logistic),
)
