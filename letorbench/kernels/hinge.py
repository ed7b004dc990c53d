"""Sums over a query's pairs inside the margin, by sorting: no pair is ever visited.

A pair (i, j), r_i > r_j, is active where s_i < s_j + 1. With the documents in order of score,
the partners of one document are those a pointer has passed, of a higher (or lower) label: a
pointer that never turns back and a Fenwick tree over the labels give every document's sum in
O(m log m) for any number of labels (Lee & Lin, "Large-scale linear RankSVM", Neural
Computation 2014, section 3; Chapelle & Keerthi, "Efficient algorithms for ranking with SVMs",
Information Retrieval 2010, for two labels).
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.kernels.prefix_tree import add, sum_of_first


@kernel()
def sort(scores: np.ndarray, offsets: np.ndarray, first: int, last: int, order: np.ndarray) -> None:
    """order: the rows of each of the queries first..last - 1 by ascending score."""
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        order[begin:end] = begin + np.argsort(scores[begin:end])


@kernel()
def counts(
    scores: np.ndarray,
    order: np.ndarray,
    levels: np.ndarray,
    offsets: np.ndarray,
    n_levels: int,
    first: int,
    last: int,
    upper: np.ndarray,
    lower: np.ndarray,
) -> None:
    """Each document's active pairs as the more relevant one, and as the less relevant one.

    levels: (n_docs,) the labels as 0..n_levels - 1; order: from `sort`.
    """
    tree = np.empty(n_levels + 1, np.int64)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        tree[:] = 0
        passed = begin
        for t in range(begin, end):
            j = order[t]
            while passed < end and scores[order[passed]] < scores[j] + 1.0:
                add(tree, n_levels - levels[order[passed]], 1)
                passed += 1
            lower[j] = sum_of_first(tree, n_levels - levels[j] - 1)
        tree[:] = 0
        passed = end - 1
        for t in range(end - 1, begin - 1, -1):
            i = order[t]
            while passed >= begin and scores[i] < scores[order[passed]] + 1.0:
                add(tree, levels[order[passed]] + 1, 1)
                passed -= 1
            upper[i] = sum_of_first(tree, levels[i])


@kernel()
def laplacian(
    x: np.ndarray,
    scores: np.ndarray,
    order: np.ndarray,
    levels: np.ndarray,
    offsets: np.ndarray,
    n_levels: int,
    first: int,
    last: int,
    upper: np.ndarray,
    lower: np.ndarray,
    product: np.ndarray,
) -> None:
    """product = L x, L the Laplacian of the active pairs: sum over i's partners k of x_i - x_k.

    upper, lower: from `counts` at the same scores.
    """
    tree = np.empty(n_levels + 1)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        if begin == end:
            continue
        # L kills constants: sums of differences from one document lose the fewest digits
        base = x[begin]
        tree[:] = 0.0
        passed = begin
        for t in range(begin, end):
            j = order[t]
            while passed < end and scores[order[passed]] < scores[j] + 1.0:
                k = order[passed]
                add(tree, n_levels - levels[k], x[k] - base)
                passed += 1
            own = (upper[j] + lower[j]) * (x[j] - base)
            product[j] = own - sum_of_first(tree, n_levels - levels[j] - 1)
        tree[:] = 0.0
        passed = end - 1
        for t in range(end - 1, begin - 1, -1):
            i = order[t]
            while passed >= begin and scores[i] < scores[order[passed]] + 1.0:
                k = order[passed]
                add(tree, levels[k] + 1, x[k] - base)
                passed -= 1
            product[i] -= sum_of_first(tree, levels[i])
