"""Ranking every query by its scores.

The kernels take `offsets` (n_queries + 1,) int64, which index the flat arrays.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: lists up to this long are ranked by counting, which is quadratic but vectorises
COUNTED = 256

#: longer lists are merged from runs of this many documents, ranked by counting
RUN = 128

#: scores that are counted at once; a multiple of what a vector register holds
BLOCK = 16


def rank(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sort every query's documents by falling score; ties keep their order.

    Parameters
    ----------
    scores : ndarray of shape (n_docs,)
        Without NaN.
    offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns the rows ``offsets[q]:offsets[q + 1]``.

    Returns
    -------
    ndarray of shape (n_docs,), int64
        Rows, so that ``labels[rank(scores, offsets)]`` is in rank order, one query after
        another.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([1.0, 3.0, 3.0, 5.0, 7.0]), np.array([0, 3, 5]))
    array([1, 2, 0, 4, 3])
    """
    scores = np.require(scores, np.float64, ["C", "W"])
    offsets = np.require(offsets, np.int64, ["C", "W"])
    order = np.empty(len(scores), dtype=np.int64)
    descending(scores, offsets, order)
    return order


@kernel()
def descending(scores, offsets, order):
    """Write to order[p] the document at the flat rank position p; ties keep their order."""
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, offsets[q + 1] - offsets[q])
    size = longest if longest > COUNTED else 0
    keys, spare = np.empty(size), np.empty(size)
    spare_order = np.empty(size, dtype=np.int64)
    padded = np.empty(COUNTED)
    ranks, tied = np.empty(COUNTED, dtype=np.int64), np.empty(COUNTED, dtype=np.int64)
    for q in range(len(offsets) - 1):
        first, last = offsets[q], offsets[q + 1]
        ranked, placed = scores[first:last], order[first:last]
        if last - first <= COUNTED:
            count_ranks(ranked, first, placed, padded, ranks, tied)
            continue
        for start in range(0, len(ranked), RUN):
            stop = min(start + RUN, len(ranked))
            count_ranks(ranked[start:stop], first + start, placed[start:stop], padded, ranks, tied)
        merge_runs(ranked, first, placed, keys, spare, spare_order)


@kernel()
def count_ranks(scores, first, order, padded, ranks, tied):
    """Place each document, numbered from `first`, by how many there are above it.

    The last three arguments are scratch arrays of COUNTED items. The scores are padded with
    minus infinity, which is above nothing, so that the inner loop has no remainder. Four
    documents share each score that is read.
    """
    n = len(scores)
    width = (n + BLOCK - 1) // BLOCK * BLOCK
    padded[:n] = scores
    padded[n:width] = -np.inf
    tied[:n] = 0
    others = padded[:width]
    for i in range(0, n, 4):
        s0, s1, s2, s3 = padded[i], padded[i + 1], padded[i + 2], padded[i + 3]
        above0, above1, above2, above3 = 0, 0, 0, 0
        for j in range(len(others)):
            above0 += others[j] > s0
            above1 += others[j] > s1
            above2 += others[j] > s2
            above3 += others[j] > s3
        ranks[i], ranks[i + 1], ranks[i + 2], ranks[i + 3] = above0, above1, above2, above3
    for i in range(n):
        above = ranks[i]
        order[above + tied[above]] = first + i
        tied[above] += 1


@kernel()
def merge_runs(scores, first, order, keys, spare, spare_order):
    """Merge the ranked runs of `order`, stably; the last three arguments are scratch arrays."""
    n = len(scores)
    for i in range(n):
        keys[i] = scores[order[i] - first]
    from_keys, from_order, to_keys, to_order = keys, order, spare, spare_order
    width = RUN
    while width < n:
        for start in range(0, n, 2 * width):
            middle, stop = min(start + width, n), min(start + 2 * width, n)
            left, right = start, middle
            for at in range(start, stop):
                if right >= stop or (left < middle and from_keys[left] >= from_keys[right]):
                    to_keys[at], to_order[at] = from_keys[left], from_order[left]
                    left += 1
                else:
                    to_keys[at], to_order[at] = from_keys[right], from_order[right]
                    right += 1
        from_keys, to_keys = to_keys, from_keys
        from_order, to_order = to_order, from_order
        width *= 2
    for i in range(n):
        order[i] = from_order[i]
