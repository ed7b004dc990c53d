"""The pairs of documents that violate the margin, as sums over documents.

A pair (i, j) with labels r_i > r_j is active at scores s where s_i < s_j + 1. The hinge losses of
all pairs, their gradients and the products with their Hessians need only three sums for each
document (`Active`). They are found by sorting, so no pair is ever visited.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import query_share
from letorbench.solvers import margin_by_blocks, margin_by_trees
from letorbench.threads import parallel_for

#: a thread costs more than it saves on fewer documents
DOCS_A_THREAD = 2048

#: `thinned` keeps one of so many documents, but all of a query and label that has few
THINNING, FEW_DOCS = 16, 32

#: up to here a sort a label takes less time than the sort of all documents, and little memory
FEW_LABELS = 8


@dataclass(frozen=True, eq=False)
class Active:
    """The active pairs (i, j) at some scores: r_i > r_j and s_i < s_j + 1.

    Parameters
    ----------
    upper : ndarray of shape (n_docs,), int64
        The number of active pairs in which the document is i.
    lower : ndarray of shape (n_docs,), int64
        The number of active pairs in which the document is j.
    laplacian : callable
        x (n_docs,) -> L x (n_docs,), where (L x)_i is the sum over the active partners k of
        document i of x_i - x_k.
    """

    upper: np.ndarray
    lower: np.ndarray
    laplacian: Callable[[np.ndarray], np.ndarray]


def active_pairs(queries: QuerySet) -> Callable[[np.ndarray], Active]:
    """Return the function from scores (n_docs,) float64, in file order, to the active pairs."""
    n_labels = np.count_nonzero(np.bincount(queries.labels, minlength=1))
    sums = margin_by_blocks if n_labels <= FEW_LABELS else margin_by_trees
    layout = sums.Layout.of(queries)
    total, least = queries.n_queries, query_share(queries, DOCS_A_THREAD)

    def at(scores: np.ndarray) -> Active:
        counts = sums.Counts.empty(scores, layout)

        def laplacian(x: np.ndarray) -> np.ndarray:
            product = np.empty(len(x))

            def part(first: int, last: int) -> None:
                sums.laplacian(x, layout, counts, first, last, product)

            parallel_for(part, total, least)
            return product

        parallel_for(partial(sums.count, layout, counts), total, least)
        return Active(counts.upper, counts.lower, laplacian)

    return at


def thinned(queries: QuerySet) -> QuerySet:
    """Keep every 16th document of each query and label, and all of them where they are few."""
    blocks = queries.by_label
    size = np.diff(blocks.starts)
    place = np.arange(queries.n_docs) - np.repeat(blocks.starts[:-1], size)
    kept = (np.repeat(size, size) <= FEW_DOCS) | (place % THINNING == 0)
    rows = np.sort(blocks.order[kept])
    return QuerySet(
        queries.features[rows],
        queries.labels[rows],
        np.searchsorted(rows, queries.offsets),
        queries.qids,
    )


def pair_counts(queries: QuerySet) -> np.ndarray:
    """Count the pairs of different labels of each query, (n_queries,) float64."""
    blocks = queries.by_label
    block_query = np.repeat(np.arange(queries.n_queries), np.diff(blocks.queries))
    same = np.bincount(block_query, np.diff(blocks.starts) ** 2.0, queries.n_queries)
    return (queries.lengths**2.0 - same) / 2.0
