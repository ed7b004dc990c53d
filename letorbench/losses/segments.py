"""Sums and maxima over each query's documents, without a loop over queries."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet


def query_sums(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the sum (n_queries,) of values (n_docs,) in each query, 0 for an empty query."""
    total = np.add.reduceat(np.append(values, 0.0), queries.offsets[:-1])
    return np.where(queries.lengths > 0, total, 0.0)


def query_maxima(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the largest (n_queries,) of values (n_docs,) in each query, 0 for an empty query."""
    largest = np.maximum.reduceat(np.append(values, -np.inf), queries.offsets[:-1])
    return np.where(queries.lengths > 0, largest, 0.0)


def broadcast_to_docs(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return (n_docs,): for each document the value of its query, from values (n_queries,)."""
    return np.repeat(values, queries.lengths)


def inverse_or_zero(values: np.ndarray) -> np.ndarray:
    """Return 1 / values where a value is above 0, and 0 elsewhere."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)
