"""Gains of documents, and gains divided by their query's ideal DCG."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import inverse_ideal, truncated_discount
from letorbench.losses.segments import broadcast_to_docs


def gains(queries: QuerySet) -> np.ndarray:
    """Return G = 2^r - 1 of each document, (n_docs,)."""
    return np.exp2(queries.labels) - 1.0


def inverse_ideal_dcg(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return 1 / Z of each query, (n_queries,); 0 where no document is relevant.

    Z is the DCG of the ideal order with the discount 1 / log2(1 + rank), or its DCG@k for a
    truncation k above 0.
    """
    return inverse_ideal(queries, truncated_discount(queries, truncation))


def normalized_gains(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return G / Z of each document, (n_docs,); 0 in a query without relevant documents."""
    return gains(queries) * broadcast_to_docs(inverse_ideal_dcg(queries, truncation), queries)
