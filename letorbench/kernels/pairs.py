"""Forces between a query's documents of different labels: RankNet's gradient and cost, the lambdas.

Inside a query everything is in label order (`QuerySet.by_label`), so document i's pairs are
the contiguous documents from the end of its block to the end of its query. With
u = exp(s - max s), sigma(s_j - s_i) = u_j / (u_i + u_j): one exponential a document, none a
pair. Where a query's scores span more than SPAN each pair takes its own.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: the widest span of scores for which products of ROWS factors u_i + u_j stay normal numbers
SPAN = 80.0

#: pair costs whose logarithms are taken as one, of their product
ROWS = 8

#: up to this many documents, counting the larger scores (vectorised) is faster than sorting
COUNTED = 1024

#: the functions of `force`
RANKNET, RANKNET_NDCG, STEP, SPRING, NDCG_DIFFERENCE = range(5)


@kernel()
def ranks(scores: np.ndarray, size: int, rank: np.ndarray) -> None:
    """rank[i] = documents above i, from 0, among the first `size`; ties in the order given."""
    if size > COUNTED:
        descending = np.argsort(-scores[:size], kind="mergesort")
        for position in range(size):
            rank[descending[position]] = position
        return
    for i in range(size):
        score, above = scores[i], 0
        for j in range(i):
            above += scores[j] >= score
        for j in range(i + 1, size):
            above += scores[j] > score
        rank[i] = above


@kernel()
def exponentials(scores: np.ndarray, size: int, u: np.ndarray) -> float:
    """u = exp(s - max s) of the first `size` scores where they span SPAN at most; the span."""
    top, bottom = -np.inf, np.inf
    for i in range(size):
        top, bottom = max(top, scores[i]), min(bottom, scores[i])
    if top - bottom <= SPAN:
        for i in range(size):
            u[i] = np.exp(scores[i] - top)
    return top - bottom


@kernel()
def ranknet_query(
    s: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    u: np.ndarray,
    product: np.ndarray,
    force: np.ndarray,
) -> float:
    """One query's cost sum log(1 + e^{-(s_i - s_j)}) and the force -dC/ds on each document.

    s: the query's scores in label order; its blocks are first..last - 1 of `starts`.
    u, product: room for as many numbers.
    """
    begin = starts[first]
    size = starts[last] - begin
    span = exponentials(s, size, u)
    top = s[:size].max()
    force[:size] = 0.0
    cost = 0.0
    for b in range(first, last - 1):
        b0, b1 = starts[b] - begin, starts[b + 1] - begin
        if not span <= SPAN:
            for i in range(b0, b1):
                cost += _ranknet_row_far(s, i, b1, size, force)
            continue
        if pays(b1 - b0, size - b1, span):
            cost += ranknet_blocks(s, u, b0, b1, size, top, span, force)
            continue
        for start in range(b0, b1, ROWS):
            product[b1:size] = 1.0
            stop = min(start + ROWS, b1)
            for i in range(start, stop - 1, 2):
                _ranknet_rows(u, i, b1, size, product, force)
            if (stop - start) % 2:
                _ranknet_row(u, stop - 1, b1, size, product, force)
            for i in range(start, stop):
                cost -= (s[i] - top) * (size - b1)
            for j in range(b1, size):
                cost += np.log(product[j])
    return cost


@kernel(reorder=True)
def _ranknet_rows(
    u: np.ndarray, i: int, begin: int, end: int, product: np.ndarray, force: np.ndarray
) -> None:
    """`_ranknet_row` of the documents i and i + 1 at once: one division for two pairs."""
    u_i, u_next, total, total_next = u[i], u[i + 1], 0.0, 0.0
    for j in range(begin, end):
        both, both_next = u_i + u[j], u_next + u[j]
        all_four = both * both_next
        shared = u[j] / all_four
        product[j] *= all_four
        total += shared * both_next
        total_next += shared * both
        force[j] -= shared * (both + both_next)
    force[i] += total
    force[i + 1] += total_next


@kernel(reorder=True)
def _ranknet_row(
    u: np.ndarray, i: int, begin: int, end: int, product: np.ndarray, force: np.ndarray
) -> None:
    u_i, total = u[i], 0.0
    for j in range(begin, end):
        both = u_i + u[j]
        pull = u[j] / both
        product[j] *= both
        total += pull
        force[j] -= pull
    force[i] += total


@kernel()
def _ranknet_row_far(s: np.ndarray, i: int, begin: int, end: int, force: np.ndarray) -> float:
    cost = 0.0
    for j in range(begin, end):
        difference = s[i] - s[j]
        t = np.exp(-abs(difference))
        pull = (t if difference > 0.0 else 1.0) / (1.0 + t)
        cost += np.log1p(t) + max(0.0, -difference)
        force[i] += pull
        force[j] -= pull
    return cost


@kernel()
def ranknet(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    offsets: np.ndarray,
    first: int,
    last: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """RankNet's cost of each of the queries first..last - 1 and its gradient, in file order."""
    longest = 1
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    s, u, product, force = np.empty((4, longest))
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        for p in range(begin, end):
            s[p - begin] = scores[order[p]]
        value[q] = 0.0
        force[: end - begin] = 0.0
        if queries[q + 1] > queries[q] + 1:
            value[q] = ranknet_query(s, starts, queries[q], queries[q + 1], u, product, force)
        for p in range(begin, end):
            gradient[order[p]] = -force[p - begin]


@kernel()
def pair_force(kind: int, difference: float, swap: float, margin: float) -> float:
    """The force on the more relevant of two documents; the other feels the opposite.

    difference: its score minus the other's; swap: the NDCG that swapping the two would change.
    """
    if kind == STEP:
        return swap if difference < margin else 0.0
    if kind == SPRING:
        return swap * max(0.0, margin - difference)
    if kind == NDCG_DIFFERENCE:
        return swap / max(abs(difference), margin)
    t = np.exp(-abs(margin - difference))
    pull = (1.0 if margin > difference else t) / (1.0 + t)
    return pull * swap if kind == RANKNET_NDCG else pull


@kernel(reorder=True)
def _ranknet_ndcg_row(
    u: np.ndarray,
    gain: np.ndarray,
    discount: np.ndarray,
    i: int,
    begin: int,
    end: int,
    shrink: float,
    force: np.ndarray,
) -> None:
    u_i, gain_i, discount_i, total = u[i] * shrink, gain[i], discount[i], 0.0
    for j in range(begin, end):
        swap = (gain_i - gain[j]) * abs(discount_i - discount[j])
        pull = u[j] / (u_i + u[j]) * swap
        total += pull
        force[j] -= pull
    force[i] += total


@kernel()
def all_pairs(
    kind: int,
    margin: float,
    s: np.ndarray,
    gain: np.ndarray,
    discount: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    u: np.ndarray,
    force: np.ndarray,
) -> None:
    """Forces of one query's pairs of different labels, without 1 / Z; all in label order.

    gain, discount: 2^r - 1, and D at the rank the scores give, of each document.
    """
    begin = starts[first]
    size = starts[last] - begin
    force[:size] = 0.0
    near = kind == RANKNET_NDCG and abs(margin) <= SPAN and exponentials(s, size, u) <= SPAN
    shrink = np.exp(-margin)
    for b in range(first, last - 1):
        b1 = starts[b + 1] - begin
        for i in range(starts[b] - begin, b1):
            if near:
                _ranknet_ndcg_row(u, gain, discount, i, b1, size, shrink, force)
                continue
            for j in range(b1, size):
                swap = (gain[i] - gain[j]) * abs(discount[i] - discount[j])
                pull = pair_force(kind, s[i] - s[j], swap, margin)
                force[i] += pull
                force[j] -= pull


@kernel()
def neighbour_pairs(
    kind: int,
    margin: float,
    s: np.ndarray,
    gain: np.ndarray,
    discount: np.ndarray,
    rank: np.ndarray,
    size: int,
    at: np.ndarray,
    force: np.ndarray,
) -> None:
    """As `all_pairs`, of documents at neighbouring ranks only; at: room for `size` numbers."""
    force[:size] = 0.0
    for p in range(size):
        at[rank[p]] = p
    for r in range(size - 1):
        i, j = at[r], at[r + 1]
        if gain[i] == gain[j]:
            continue
        if gain[i] < gain[j]:
            i, j = j, i
        swap = (gain[i] - gain[j]) * abs(discount[i] - discount[j])
        pull = pair_force(kind, s[i] - s[j], swap, margin)
        force[i] += pull
        force[j] -= pull


# the losses import this module, so it imports from them last
from letorbench.losses.smooth_sums import pays, ranknet_blocks  # noqa: E402
