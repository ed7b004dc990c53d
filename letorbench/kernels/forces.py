"""The force on every document of a query, by any of the lambda functions."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.kernels.pairs import (
    RANKNET,
    all_pairs,
    neighbour_pairs,
    ranknet_query,
    ranks,
)

#: rows of room that `query_forces` needs, of float64 and of int64
ROOM, COUNTS = 6, 3


@kernel()
def query_forces(
    kind: int,
    neighbours: bool,
    margin: float,
    scores: np.ndarray,
    size: int,
    order: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    block_gains: np.ndarray,
    discount: np.ndarray,
    cost_discount: np.ndarray,
    room: np.ndarray,
    counts: np.ndarray,
    force: np.ndarray,
) -> float:
    """The force on each of one query's documents, in file order, without 1 / Z.

    scores:   of the query's `size` documents, file order; its blocks are first..last - 1.
    discount: D of the ranks 1, 2, ...; cost_discount: that of the cost.
    Returns RankNet's cost where all pairs of RankNet are asked for, else the DCG.
    """
    begin = starts[first]
    s, gain, place, u, product, sorted_force = room[0], room[1], room[2], room[3], room[4], room[5]
    for p in range(size):
        s[p] = scores[order[begin + p] - begin]
    if kind == RANKNET and not neighbours and margin == 0.0:
        result = ranknet_query(s, starts, first, last, u, product, sorted_force)
    else:
        rank, sorted_rank, at = counts[0], counts[1], counts[2]
        ranks(scores, size, rank)
        result = 0.0
        for b in range(first, last):
            for p in range(starts[b] - begin, starts[b + 1] - begin):
                r = rank[order[begin + p] - begin]
                sorted_rank[p] = r
                gain[p] = block_gains[b]
                place[p] = discount[r]
                result += block_gains[b] * cost_discount[r]
        if neighbours:
            neighbour_pairs(kind, margin, s, gain, place, sorted_rank, size, at, sorted_force)
        else:
            all_pairs(kind, margin, s, gain, place, starts, first, last, u, sorted_force)
    for p in range(size):
        force[order[begin + p] - begin] = sorted_force[p]
    return result


@kernel()
def forces(
    scores: np.ndarray,
    offsets: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    block_gains: np.ndarray,
    scale: np.ndarray,
    discount: np.ndarray,
    kind: int,
    neighbours: bool,
    margin: float,
    start: int,
    stop: int,
    force: np.ndarray,
) -> None:
    """The force on each document of the queries start..stop - 1, in file order, times scale[q]."""
    longest = 1
    for q in range(start, stop):
        longest = max(longest, offsets[q + 1] - offsets[q])
    room, counts = np.empty((ROOM, longest)), np.empty((COUNTS, longest), np.int64)
    for q in range(start, stop):
        begin, end = offsets[q], offsets[q + 1]
        force[begin:end] = 0.0
        if queries[q + 1] - queries[q] < 2:
            continue
        query_forces(
            kind, neighbours, margin, scores[begin:end], end - begin, order, starts,
            queries[q], queries[q + 1], block_gains, discount, discount, room, counts,
            force[begin:end],
        )  # fmt: skip
        for i in range(begin, end):
            force[i] *= scale[q]
