"""Gains, discounts, and what a query's DCG is divided by in NDCG.

The discount is 1 / log2(1 + rank), as in the papers of the losses, whichever convention measures.
"""

from __future__ import annotations

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.segments import broadcast_to_docs


def gains(queries: QuerySet) -> np.ndarray:
    """Return G = 2^r - 1 of each document, (n_docs,)."""
    return np.exp2(queries.labels) - 1.0


def block_gains(queries: QuerySet) -> np.ndarray:
    """Return 2^r - 1 of each of the set's blocks of one label, (n_blocks,)."""
    return np.exp2(queries.by_label.labels) - 1.0


def truncated_discount(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return D = 1 / log2(1 + rank) of the ranks of the longest query, (longest query,).

    D is 0 after the rank `truncation`, if that is above 0.
    """
    discount = standard_discount(np.arange(1, queries.lengths.max(initial=0) + 1))
    if truncation:
        discount[truncation:] = 0.0
    return discount


def inverse_ideal_dcg(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return 1 / Z of each query, (n_queries,); 0 where no document is relevant.

    Z is the DCG of the ideal order with the discount `truncated_discount`.
    """
    blocks, offsets = queries.by_label, queries.offsets
    ideal = np.repeat(block_gains(queries), np.diff(blocks.starts))
    rank = np.arange(len(ideal)) - np.repeat(offsets[:-1], queries.lengths)
    total = np.append(0.0, np.cumsum(ideal * truncated_discount(queries, truncation)[rank]))
    z = total[offsets[1:]] - total[offsets[:-1]]
    return np.divide(1.0, z, out=np.zeros_like(z), where=z > 0.0)


def normalized_gains(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return G / Z of each document, (n_docs,); 0 in a query without relevant documents."""
    return gains(queries) * broadcast_to_docs(inverse_ideal_dcg(queries, truncation), queries)
