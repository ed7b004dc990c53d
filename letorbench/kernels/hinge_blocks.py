"""`hinge`'s sums for few labels: a sort of each label's documents, then one look-up a document.

A query's pairs are rectangles: the documents of a block (one label) times those of lower label.
With a block's scores sorted, the active partners of a lower document j in it are its first
c_j = number of s_i < s_j + 1; seen from the block, the document of rank t is active with the j
of c_j > t. So every sum over partners is a prefix sum over the block's ranks, read at c_j, or a
suffix sum over the values of c_j, read at t. O(m log m) a query and label; where few documents
are relevant only these few are sorted (Chapelle & Keerthi, "Efficient algorithms for ranking
with SVMs", Information Retrieval 2010, for two labels).
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def largest_block(starts: np.ndarray, queries: np.ndarray, first: int, last: int) -> int:
    """Documents of the largest block of the queries first..last - 1."""
    largest = 0
    for b in range(queries[first], queries[last]):
        largest = max(largest, starts[b + 1] - starts[b])
    return largest


@kernel()
def counts(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    base: np.ndarray,
    first: int,
    last: int,
    ranked: np.ndarray,
    place: np.ndarray,
    upper: np.ndarray,
    lower: np.ndarray,
) -> None:
    """Each document's active pairs as upper and as lower document; c_j for `laplacian`.

    order, starts, queries: `QuerySet.by_label`. ranked: each block's rows by ascending score.
    place[base[b] + k]: c_j in block b of the k-th document of lower label, in sorted position.
    """
    largest = largest_block(starts, queries, first, last)
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
            at = base[b] - below
            for p in range(below, end):
                limit = scores[order[p]] + 1.0
                c, left = 0, size
                while left > 0:
                    half = (left + 1) >> 1
                    if sorted_scores[c + half - 1] < limit:
                        c += half
                    left -= half
                place[at + p] = c
                lower[order[p]] += c
                having[c] += 1
            active = 0
            for t in range(size - 1, -1, -1):
                active += having[t + 1]
                upper[ranked[begin + t]] += active


@kernel()
def laplacian(
    x: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    base: np.ndarray,
    first: int,
    last: int,
    ranked: np.ndarray,
    place: np.ndarray,
    upper: np.ndarray,
    lower: np.ndarray,
    product: np.ndarray,
) -> None:
    """product = L x, L the Laplacian of the active pairs, from what `counts` found."""
    largest = largest_block(starts, queries, first, last)
    prefix = np.empty(largest + 1)
    having = np.empty(largest + 1)
    for q in range(first, last):
        start, end = starts[queries[q]], starts[queries[q + 1]]
        if start == end:
            continue
        # L kills constants: sums of differences from one document lose the fewest digits
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
            at = base[b] - below
            for p in range(below, end):
                j, c = order[p], place[at + p]
                product[j] -= prefix[c]
                having[c] += x[j] - origin
            total = 0.0
            for t in range(size - 1, -1, -1):
                total += having[t + 1]
                product[ranked[begin + t]] -= total
