"""Sums over the active pairs for any number of labels: one sort and one Fenwick tree a query.

With the documents in order of score, the partners of one document are among those that a pointer
has passed, namely the ones with a higher (or a lower) label. A pointer that never turns back and
a tree of sums over the labels give the sums of all documents in O(m log m) time for a query of m
documents (Lee & Lin, "Large-scale linear RankSVM", Neural Computation 2014, section 3).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel


class Layout(NamedTuple):
    """The labels of a query set as 0..n_levels - 1, (n_docs,) int64, and its offsets."""

    of_row: np.ndarray
    n_levels: int
    offsets: np.ndarray

    @staticmethod
    def of(queries: QuerySet) -> Layout:
        labels, level = np.unique(queries.labels, return_inverse=True)
        return Layout(level.astype(np.int64), len(labels), queries.offsets)


class Counts(NamedTuple):
    """The scores, and what they decide; `count` fills it and `laplacian` reads it.

    scores: (n_docs,) float64. order: (n_docs,) int64, the rows of each query by ascending score.
    upper, lower: (n_docs,) int64, see `Active`.
    """

    scores: np.ndarray
    order: np.ndarray
    upper: np.ndarray
    lower: np.ndarray

    @staticmethod
    def empty(scores: np.ndarray, layout: Layout) -> Counts:
        return Counts(scores, *np.empty((3, len(scores)), dtype=np.int64))


@kernel()
def sort(scores: np.ndarray, offsets: np.ndarray, first: int, last: int, order: np.ndarray) -> None:
    """Fill `order` with the rows of each of the queries first..last - 1 by ascending score."""
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        order[begin:end] = begin + np.argsort(scores[begin:end])


@kernel()
def count(layout: Layout, counts: Counts, first: int, last: int) -> None:
    """Fill the counts of the documents of the queries first..last - 1."""
    level, n_levels, offsets = layout
    scores, order, upper, lower = counts
    sort(scores, offsets, first, last, order)
    tree = np.empty(n_levels + 1, np.int64)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        tree[:] = 0
        passed = begin
        for t in range(begin, end):
            j = order[t]
            while passed < end and scores[order[passed]] < scores[j] + 1.0:
                add(tree, n_levels - level[order[passed]], 1)
                passed += 1
            lower[j] = sum_of_first(tree, n_levels - level[j] - 1)
        tree[:] = 0
        passed = end - 1
        for t in range(end - 1, begin - 1, -1):
            i = order[t]
            while passed >= begin and scores[i] < scores[order[passed]] + 1.0:
                add(tree, level[order[passed]] + 1, 1)
                passed -= 1
            upper[i] = sum_of_first(tree, level[i])


@kernel()
def laplacian(
    x: np.ndarray, layout: Layout, counts: Counts, first: int, last: int, product: np.ndarray
) -> None:
    """Fill product = L x for the documents of the queries first..last - 1, see `Active`."""
    level, n_levels, offsets = layout
    scores, order, upper, lower = counts
    tree = np.empty(n_levels + 1)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        if begin == end:
            continue
        # L maps constants to 0: sums of differences from one document lose the fewest digits
        base = x[begin]
        tree[:] = 0.0
        passed = begin
        for t in range(begin, end):
            j = order[t]
            while passed < end and scores[order[passed]] < scores[j] + 1.0:
                k = order[passed]
                add(tree, n_levels - level[k], x[k] - base)
                passed += 1
            own = (upper[j] + lower[j]) * (x[j] - base)
            product[j] = own - sum_of_first(tree, n_levels - level[j] - 1)
        tree[:] = 0.0
        passed = end - 1
        for t in range(end - 1, begin - 1, -1):
            i = order[t]
            while passed >= begin and scores[i] < scores[order[passed]] + 1.0:
                k = order[passed]
                add(tree, level[k] + 1, x[k] - base)
                passed -= 1
            product[i] -= sum_of_first(tree, level[i])


@kernel()
def add(tree: np.ndarray, k: int, value: float) -> None:
    """Add `value` to the k-th number, 1 <= k < len(tree), of a Fenwick tree.

    A tree of zeros holds zeros (P. Fenwick, "A new data structure for cumulative frequency
    tables", Software: Practice and Experience 24(3), 1994).
    """
    while k < len(tree):
        tree[k] += value
        k += k & -k


@kernel()
def sum_of_first(tree: np.ndarray, k: int) -> float:
    """Return the sum of the first k numbers, 0 <= k < len(tree)."""
    total = tree[0]  # always 0, of the tree's type
    while k > 0:
        total += tree[k]
        k -= k & -k
    return total
