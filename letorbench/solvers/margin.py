"""The pairs of a query set that are inside the margin, as sums over documents."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import hinge, hinge_blocks
from letorbench.threads import in_threads

#: documents below which a slice of the queries is not worth a thread
DOCS_A_THREAD = 2048

#: `thinned` keeps one of so many documents, but all of a query's where a label has few
THINNING, FEW_DOCS = 16, 32

#: up to here a sort a label beats the sort of all documents, and takes little memory
FEW_LABELS = 8


@dataclass(frozen=True, eq=False)
class Active:
    """The active pairs (i, j) at some scores: r_i > r_j and s_i < s_j + 1.

    upper:     (n_docs,) int64; the active pairs in which the document is i.
    lower:     (n_docs,) int64; those in which it is j.
    laplacian: x (n_docs,) -> sum over i's active partners k of x_i - x_k, (n_docs,) float64.
    """

    upper: np.ndarray
    lower: np.ndarray
    laplacian: Callable[[np.ndarray], np.ndarray]


def active_pairs(queries: QuerySet) -> Callable[[np.ndarray], Active]:
    """The function from scores (n_docs,) float64, in file order, to the active pairs."""
    n_labels = np.count_nonzero(np.bincount(queries.labels, minlength=1))
    return _by_blocks(queries) if n_labels <= FEW_LABELS else _by_trees(queries, n_labels)


def thinned(queries: QuerySet) -> QuerySet:
    """Every 16th document of each query and label, all of them where they are few."""
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
    """(n_queries,) float64: the pairs of different labels of each query."""
    blocks = queries.by_label
    block_query = np.repeat(np.arange(queries.n_queries), np.diff(blocks.queries))
    same = np.bincount(block_query, np.diff(blocks.starts) ** 2.0, queries.n_queries)
    return (queries.lengths**2.0 - same) / 2.0


def least_queries(queries: QuerySet) -> int:
    """How many queries are worth a thread."""
    return max(DOCS_A_THREAD * queries.n_queries // max(queries.n_docs, 1), 1)


def _by_blocks(queries: QuerySet) -> Callable[[np.ndarray], Active]:
    """By `hinge_blocks`: O(n_docs) extra memory for each label but one."""
    blocks, n = queries.by_label, queries.n_docs
    last_of_query = np.repeat(blocks.starts[blocks.queries[1:]], np.diff(blocks.queries))
    n_below = last_of_query - blocks.starts[1:]
    base = np.concatenate([[0], np.cumsum(n_below)]).astype(np.int64)
    layout = (blocks.order, blocks.starts, blocks.queries, base)
    total, least = queries.n_queries, least_queries(queries)

    def at(scores: np.ndarray) -> Active:
        ranked, upper, lower = np.empty((3, n), dtype=np.int64)
        place = np.empty(base[-1], dtype=np.int32)

        def count(first: int, last: int) -> None:
            hinge_blocks.counts(scores, *layout, first, last, ranked, place, upper, lower)

        def laplacian(x: np.ndarray) -> np.ndarray:
            product = np.empty(n)

            def part(first: int, last: int) -> None:
                hinge_blocks.laplacian(
                    x, *layout, first, last, ranked, place, upper, lower, product
                )

            in_threads(part, total, least)
            return product

        in_threads(count, total, least)
        return Active(upper, lower, laplacian)

    return at


def _by_trees(queries: QuerySet, n_labels: int) -> Callable[[np.ndarray], Active]:
    """By `hinge`: O(n_docs) memory and O(m log m) time a query for any number of labels."""
    levels = np.unique(queries.labels, return_inverse=True)[1].astype(np.int64)
    offsets, n = queries.offsets, queries.n_docs
    total, least = queries.n_queries, least_queries(queries)

    def at(scores: np.ndarray) -> Active:
        order, upper, lower = np.empty((3, n), dtype=np.int64)

        def count(first: int, last: int) -> None:
            hinge.sort(scores, offsets, first, last, order)
            hinge.counts(scores, order, levels, offsets, n_labels, first, last, upper, lower)

        def laplacian(x: np.ndarray) -> np.ndarray:
            product = np.empty(n)

            def part(first: int, last: int) -> None:
                hinge.laplacian(
                    x, scores, order, levels, offsets, n_labels, first, last, upper, lower, product
                )

            in_threads(part, total, least)
            return product

        in_threads(count, total, least)
        return Active(upper, lower, laplacian)

    return at
