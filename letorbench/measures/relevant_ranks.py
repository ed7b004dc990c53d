"""Ranks of the relevant documents, the hits, of queries; equal scores rank in file order."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query
from letorbench.measures.counting import BLOCK, COUNTED, TOGETHER, count, whole_blocks
from letorbench.measures.sorting import descending


@kernel()
def relevant_ranks(
    scores: np.ndarray,
    offsets: np.ndarray,
    hits: np.ndarray,
    hit_offsets: np.ndarray,
    ranks: np.ndarray,
) -> None:
    """Write to ranks[h] the rank, from 1, of document hits[h] in its query; ties in file order."""
    longest = longest_query(offsets, 0, len(offsets) - 1)
    single = np.empty(longest + BLOCK, dtype=np.float32)
    scratch = np.empty((3, longest + TOGETHER), dtype=np.int32)
    for q in range(len(offsets) - 1):
        first, last = hit_offsets[q], hit_offsets[q + 1]
        if last - first > COUNTED:
            order, place = ranked_query(scores, offsets[q : q + 2])
            for h in range(first, last):
                ranks[h] = place[hits[h] - offsets[q]] + 1
        else:
            for h in range(first, last):
                scratch[0, h - first] = hits[h] - offsets[q]
            own = scores[offsets[q] : offsets[q + 1]]
            counted_ranks(own, single, scratch, ranks[first:last])


@kernel()
def counted_ranks(
    scores: np.ndarray, single: np.ndarray, scratch: np.ndarray, ranks: np.ndarray
) -> None:
    """Write the ranks of one query's documents scratch[0, :len(ranks)].

    They are counted in single precision, see `count`; where others share a single score, again.
    """
    hits, above, level = scratch[0], scratch[1], scratch[2]
    for j in range(len(scores)):
        single[j] = scores[j]
    count(whole_blocks(single, len(scores)), hits, len(ranks), above, level)
    for h in range(len(ranks)):
        if level[h] > 1:
            above[h] = count_in_order(scores, hits[h])
        ranks[h] = above[h] + 1


@kernel()
def count_in_order(scores: np.ndarray, document: int) -> int:
    """Count the documents above one; equal scores rank in file order."""
    score, above = scores[document], 0
    before, behind = scores[:document], scores[document + 1 :]
    for j in range(len(before)):
        above += before[j] >= score
    for j in range(len(behind)):
        above += behind[j] > score
    return above


@kernel()
def ranked_query(scores: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the documents bounds[0]..bounds[1] - 1: their rows in rank order, and their places."""
    n = bounds[1] - bounds[0]
    order, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    descending(scores[bounds[0] : bounds[1]], bounds - bounds[0], order)
    for p in range(n):
        place[order[p]] = p
    return order, place
