"""The multiclass logistic loss: which of a query's documents is the best one."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import register
from letorbench.losses.segments import inverse, maxima, spread, sums


def best(queries: QuerySet) -> np.ndarray:
    """(n_docs,) 1 / n for the n documents of a query's highest label, 0 for others.

    Zero throughout a query without relevant documents.
    """
    labels = queries.labels.astype(np.float64)
    top = ((labels == spread(maxima(labels, queries), queries)) & (labels > 0)).astype(np.float64)
    return top * spread(inverse(sums(top, queries)), queries)


@register("mcl", "-log softmax(s) of the best document (several: the mean)")
def mcl(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """Tran, Phung, Venkatesh, 2012, equation 5, for a query with one best document.

    Several best ones: the mean of their losses, which is convex and the same for one. A query
    without relevant documents has no best one and no loss.
    """
    p = best(queries)
    some = sums(p, queries)
    shifted = scores - spread(maxima(scores, queries), queries)
    e = np.exp(shifted)
    z = np.where(queries.lengths > 0, sums(e, queries), 1.0)
    value = some * np.log(z) - sums(p * shifted, queries)
    return value, spread(some / z, queries) * e - p
