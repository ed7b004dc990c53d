"""Sums over the active pairs for few labels: one sort a label, then one look-up a document.

A query's pairs are rectangles: the documents of a block (one label) times those of a lower label.
If the scores of a block are sorted, the active partners of a lower document j in the block are
its first c_j documents, where c_j is the number of s_i < s_j + 1. From the other side, the block's
document of rank t is active with the documents j of c_j > t. So every sum over partners is either
a prefix sum over the block's ranks, read at c_j, or a suffix sum over the values of c_j, read at
t. This takes O(m log m) time for a query of m documents and a label. Where few documents are
relevant, only these few are sorted (Chapelle & Keerthi, "Efficient algorithms for ranking with
SVMs", Information Retrieval 2010, for two labels).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.jit import kernel


class Layout(NamedTuple):
    """The blocks of a query set, and where each keeps its c_j.

    base: (n_blocks,) int64; block b keeps c_j of the k-th document of lower label at base[b] + k.
    total: how many c_j there are.
    """

    blocks: LabelBlocks
    base: np.ndarray
    total: int

    @staticmethod
    def of(queries: QuerySet) -> Layout:
        blocks = queries.by_label
        last_of_query = np.repeat(blocks.starts[blocks.queries[1:]], np.diff(blocks.queries))
        n_below = last_of_query - blocks.starts[1:]
        base = np.concatenate([[0], np.cumsum(n_below)]).astype(np.int64)
        return Layout(blocks, base, int(base[-1]))


class Counts(NamedTuple):
    """The scores, and what they decide; `count` fills it and `laplacian` reads it.

    scores: (n_docs,) float64. ranked: (n_docs,) int64, the rows of each block by ascending score.
    partners: (total,) int32, the c_j. upper, lower: (n_docs,) int64, see `Active`.
    """

    scores: np.ndarray
    ranked: np.ndarray
    partners: np.ndarray
    upper: np.ndarray
    lower: np.ndarray

    @staticmethod
    def empty(scores: np.ndarray, layout: Layout) -> Counts:
        ranked, upper, lower = np.empty((3, len(scores)), dtype=np.int64)
        return Counts(scores, ranked, np.empty(layout.total, dtype=np.int32), upper, lower)


@kernel()
def _largest_block(blocks: LabelBlocks, first: int, last: int) -> int:
    """Return the number of documents of the largest block of the queries first..last - 1."""
    largest = 0
    for b in range(blocks.queries[first], blocks.queries[last]):
        largest = max(largest, blocks.starts[b + 1] - blocks.starts[b])
    return largest


@kernel()
def count(layout: Layout, counts: Counts, first: int, last: int) -> None:
    """Fill the counts of the documents of the queries first..last - 1."""
    order, starts, queries = layout.blocks.order, layout.blocks.starts, layout.blocks.queries
    scores, ranked, partners, upper, lower = counts
    largest = _largest_block(layout.blocks, first, last)
    sorted_scores = np.empty(largest)
    having = np.empty(largest + 1, np.int64)
    for q in range(first, last):
        end = starts[queries[q + 1]]
        for p in range(starts[queries[q]], end):
            upper[order[p]] = 0
            lower[order[p]] = 0
        for b in range(queries[q], queries[q + 1] - 1):
            begin, below = starts[b], starts[b + 1]
            size = below - begin
            for t in range(size):
                sorted_scores[t] = scores[order[begin + t]]
            by_score = np.argsort(sorted_scores[:size])
            for t in range(size):
                ranked[begin + t] = order[begin + by_score[t]]
            for t in range(size):
                sorted_scores[t] = scores[ranked[begin + t]]
            having[: size + 1] = 0
            at = layout.base[b] - below
            for p in range(below, end):
                limit = scores[order[p]] + 1.0
                c, left = 0, size
                while left > 0:  # the number of sorted scores below the limit, by bisection
                    half = (left + 1) >> 1
                    if sorted_scores[c + half - 1] < limit:
                        c += half
                    left -= half
                partners[at + p] = c
                lower[order[p]] += c
                having[c] += 1
            active = 0
            for t in range(size - 1, -1, -1):
                active += having[t + 1]
                upper[ranked[begin + t]] += active


@kernel()
def laplacian(
    x: np.ndarray, layout: Layout, counts: Counts, first: int, last: int, product: np.ndarray
) -> None:
    """Fill product = L x for the documents of the queries first..last - 1, see `Active`."""
    order, starts, queries = layout.blocks.order, layout.blocks.starts, layout.blocks.queries
    ranked, partners, upper, lower = counts.ranked, counts.partners, counts.upper, counts.lower
    largest = _largest_block(layout.blocks, first, last)
    prefix = np.empty(largest + 1)
    having = np.empty(largest + 1)
    for q in range(first, last):
        start, end = starts[queries[q]], starts[queries[q + 1]]
        if start == end:
            continue
        # L maps constants to 0: sums of differences from one document lose the fewest digits
        origin = x[order[start]]
        for p in range(start, end):
            j = order[p]
            product[j] = (upper[j] + lower[j]) * (x[j] - origin)
        for b in range(queries[q], queries[q + 1] - 1):
            begin, below = starts[b], starts[b + 1]
            size = below - begin
            prefix[0] = 0.0
            for t in range(size):
                prefix[t + 1] = prefix[t] + (x[ranked[begin + t]] - origin)
            having[: size + 1] = 0.0
            at = layout.base[b] - below
            for p in range(below, end):
                j, c = order[p], partners[at + p]
                product[j] -= prefix[c]
                having[c] += x[j] - origin
            total = 0.0
            for t in range(size - 1, -1, -1):
                total += having[t + 1]
                product[ranked[begin + t]] -= total
