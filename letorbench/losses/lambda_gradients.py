"""The lambda gradients of `letorbench.losses.lambdas`, compiled.

The documents of a query are read by descending label (`QuerySet.by_label`), so the pairs of
document i are the contiguous documents behind its block.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import SPAN, exponentials

#: the lambda functions' numbers in compiled code
RANKNET, RANKNET_NDCG, STEP, SPRING, NDCG_DIFFERENCE = range(5)

#: up to this many documents, counting the larger scores (vectorised) is faster than sorting
COUNTED = 1024


class LambdaRule(NamedTuple):
    """A lambda function on one query set, as a compiled kernel reads it.

    Attributes
    ----------
    kind : int
        Which function, see `LAMBDAS`.
    neighbours : bool
        Whether only documents at neighbouring ranks are a pair.
    margin : float
    gains : ndarray of shape (n_blocks,)
        2^r - 1 of each block of one label.
    discount : ndarray of shape (longest query,)
        D of the ranks 1, 2, ...
    factor : ndarray of shape (n_queries,)
        What a query's forces are multiplied by: 1 / Z, or 1.
    """

    kind: int
    neighbours: bool
    margin: float
    gains: np.ndarray
    discount: np.ndarray
    factor: np.ndarray


class LambdaWorkspace(NamedTuple):
    """Arrays with one number for each document of the longest query, in label order.

    gain, discount: 2^r - 1, and D at the document's rank. rank: from 0. rank_of_row: the same in
    file order. at: the document at each rank.
    """

    s: np.ndarray
    u: np.ndarray
    gain: np.ndarray
    discount: np.ndarray
    force: np.ndarray
    rank: np.ndarray
    rank_of_row: np.ndarray
    at: np.ndarray


@kernel()
def lambda_workspace(longest: int) -> LambdaWorkspace:
    """Allocate the workspace for queries of up to `longest` documents."""
    return LambdaWorkspace(
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
        np.empty(longest, np.int64),
    )


@kernel()
def lambdas(
    scores: np.ndarray,
    blocks: LabelBlocks,
    rule: LambdaRule,
    first: int,
    last: int,
    force: np.ndarray,
) -> None:
    """Fill `force` for each document of the queries first..last - 1, in file order."""
    offsets = blocks.offsets
    workspace = lambda_workspace(max(1, longest_query(offsets, first, last)))
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        force[begin:end] = 0.0
        if blocks.queries[q + 1] - blocks.queries[q] < 2:
            continue
        query_lambdas(
            scores[begin:end], blocks, q, rule, rule.discount, workspace, force[begin:end]
        )


@kernel()
def query_lambdas(
    scores: np.ndarray,
    blocks: LabelBlocks,
    q: int,
    rule: LambdaRule,
    cost_discount: np.ndarray,
    workspace: LambdaWorkspace,
    force: np.ndarray,
) -> float:
    """Fill `force` for the documents of query q; return its DCG under `cost_discount`.

    scores, force: (documents of q,), in file order.
    """
    begin, size = blocks.offsets[q], len(scores)
    _ranks(scores, workspace.rank_of_row)
    dcg = 0.0
    for b in range(blocks.queries[q], blocks.queries[q + 1]):
        for p in range(blocks.starts[b] - begin, blocks.starts[b + 1] - begin):
            row = blocks.order[begin + p] - begin
            rank = workspace.rank_of_row[row]
            workspace.s[p] = scores[row]
            workspace.rank[p] = rank
            workspace.gain[p] = rule.gains[b]
            workspace.discount[p] = rule.discount[rank]
            dcg += rule.gains[b] * cost_discount[rank]
    workspace.force[:size] = 0.0
    if rule.neighbours:
        _neighbour_pairs(rule, size, workspace)
    else:
        _all_pairs(rule, blocks, q, workspace)
    for p in range(size):
        force[blocks.order[begin + p] - begin] = workspace.force[p] * rule.factor[q]
    return dcg


@kernel()
def pair_force(kind: int, difference: float, swap: float, margin: float) -> float:
    """Return the force on the more relevant document of a pair; the other feels its opposite.

    difference: its score minus the other's; swap: what swapping the two would change in NDCG.
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


@kernel()
def _all_pairs(rule: LambdaRule, blocks: LabelBlocks, q: int, workspace: LambdaWorkspace) -> None:
    """Add the forces of all pairs of different labels of query q, without the query's factor."""
    kind, margin = rule.kind, rule.margin
    s, u, gain, discount, force = workspace[:5]
    first, last = blocks.queries[q], blocks.queries[q + 1]
    begin = blocks.starts[first]
    size = blocks.starts[last] - begin
    near = kind == RANKNET_NDCG and abs(margin) <= SPAN and exponentials(s, size, u) <= SPAN
    shrink = np.exp(-margin)
    for b in range(first, last - 1):
        b1 = blocks.starts[b + 1] - begin
        for i in range(blocks.starts[b] - begin, b1):
            if near:
                _ranknet_ndcg_row(u, gain, discount, i, b1, size, shrink, force)
                continue
            for j in range(b1, size):
                swap = (gain[i] - gain[j]) * abs(discount[i] - discount[j])
                pull = pair_force(kind, s[i] - s[j], swap, margin)
                force[i] += pull
                force[j] -= pull


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
    """Add the forces of document i and the documents begin..end - 1: u_j / (u_i + u_j) |dNDCG|."""
    u_i, gain_i, discount_i, total = u[i] * shrink, gain[i], discount[i], 0.0
    for j in range(begin, end):
        swap = (gain_i - gain[j]) * abs(discount_i - discount[j])
        pull = u[j] / (u_i + u[j]) * swap
        total += pull
        force[j] -= pull
    force[i] += total


@kernel()
def _neighbour_pairs(rule: LambdaRule, size: int, workspace: LambdaWorkspace) -> None:
    """Add the forces of the documents at neighbouring ranks, without the query's factor."""
    s, gain, discount = workspace.s, workspace.gain, workspace.discount
    force, at = workspace.force, workspace.at
    for p in range(size):
        at[workspace.rank[p]] = p
    for r in range(size - 1):
        i, j = at[r], at[r + 1]
        if gain[i] == gain[j]:
            continue
        if gain[i] < gain[j]:
            i, j = j, i
        swap = (gain[i] - gain[j]) * abs(discount[i] - discount[j])
        pull = pair_force(rule.kind, s[i] - s[j], swap, rule.margin)
        force[i] += pull
        force[j] -= pull


@kernel()
def _ranks(scores: np.ndarray, rank: np.ndarray) -> None:
    """rank[i] = documents above document i, from 0; ties are ranked in the order given."""
    size = len(scores)
    if size > COUNTED:
        descending = np.argsort(-scores, kind="mergesort")
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
