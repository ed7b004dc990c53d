"""Sums and the like over each query's documents, without a loop over queries."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet


def sums(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """(n_docs,) -> (n_queries,), 0 for an empty query."""
    total = np.add.reduceat(np.append(values, 0.0), queries.offsets[:-1])
    return np.where(queries.lengths > 0, total, 0.0)


def maxima(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """(n_docs,) -> (n_queries,), 0 for an empty query."""
    largest = np.maximum.reduceat(np.append(values, -np.inf), queries.offsets[:-1])
    return np.where(queries.lengths > 0, largest, 0.0)


def spread(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """(n_queries,) -> (n_docs,): each document its query's value."""
    return np.repeat(values, queries.lengths)


def inverse(values: np.ndarray) -> np.ndarray:
    """1 / values, 0 where a value is not above 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)
