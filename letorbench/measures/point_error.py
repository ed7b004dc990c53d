"""RMSE: how far scores are from labels, whatever the ranking.

It is no `Measure`: a measure sees the order of the scores alone and is best where it is highest,
and this number changes with every score and is best at zero.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError


def rmse(scores: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return each query's root of the mean squared difference of scores and labels.

    Parameters
    ----------
    scores : ndarray of shape (n_docs,)
        In file order.
    queries : QuerySet

    Returns
    -------
    ndarray of shape (n_queries,), float64
        0 for a query without documents.

    Raises
    ------
    DataError
        There are too many or too few scores.

    References
    ----------
    W. Zhang: Learning to Rank, EE448, 2018: pointwise approaches "predict the absolute relevance
    (e.g. RMSE)".
    """
    scores = np.asarray(scores, dtype=np.float64)
    if scores.shape != (queries.n_docs,):
        raise DataError(f"found {scores.size} scores, expected {queries.n_docs}")
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    total = np.bincount(query, np.square(scores - queries.labels), queries.n_queries)
    return np.sqrt(total / np.maximum(queries.lengths, 1))
