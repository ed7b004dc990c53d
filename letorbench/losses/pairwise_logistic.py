"""RankNet's loss: the logistic loss of every pair of a query's documents.

For a pair of documents with labels r_i > r_j the cost is C = log(1 + exp(-(s_i - s_j))), and its
derivative is dC/ds_i = -dC/ds_j = -sigma(s_j - s_i), sigma(t) = 1 / (1 + exp(-t)) (Burges et al.,
ICML 2005; Burges, Ragno, Le, NIPS 2006, equations 6 to 8). `pairwise_logistic` says this in plain
NumPy. The compiled kernel below it does three things to be fast:

* It reads the documents of a query by descending label (`QuerySet.by_label`). The documents with
  a lower label than document i are then the contiguous ones behind i's block.
* With u = exp(s - max s), sigma(s_j - s_i) = u_j / (u_i + u_j): one exponential a document
  instead of one a pair. If the scores of a query span more than SPAN, each pair has its own.
* The logarithms of `ROWS` pairs are taken as the one logarithm of their product.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.exponentials import SPAN, exponentials
from letorbench.losses.smooth_sums import PairBlock, pays, ranknet_blocks

#: pairs whose logarithms are taken as one; a product of so many u_i + u_j is a normal number
ROWS = 8


def pairwise_logistic(scores: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Compute RankNet's cost of one query and the derivative by each score, pair by pair.

    Parameters
    ----------
    scores : ndarray of shape (n_docs,)
    labels : ndarray of shape (n_docs,)

    Returns
    -------
    cost : float
        The sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j))).
    gradient : ndarray of shape (n_docs,)
        Its derivative by each score. Minus the gradient is the paper's lambda.

    Examples
    --------
    >>> cost, gradient = pairwise_logistic(np.array([0.0, 0.0]), np.array([0, 1]))
    >>> round(cost, 4), gradient
    (0.6931, array([ 0.5, -0.5]))
    """
    i, j = np.nonzero(labels[:, None] > labels)
    difference = scores[i] - scores[j]
    cost = np.logaddexp(0.0, -difference).sum()
    slope = -np.exp(-np.logaddexp(0.0, difference))  # -sigma(s_j - s_i) without overflow
    n = len(scores)
    return float(cost), np.bincount(i, slope, n) - np.bincount(j, slope, n)


def ranknet(scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
    """Compute the sum of `pairwise_logistic` over the pairs of each query, and its gradient."""
    return in_query_slices(_costs, queries, scores, queries.by_label, documents=1_000)


LOSSES = (Loss("ranknet", "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))", ranknet),)


class PairWorkspace(NamedTuple):
    """Arrays with one number for each document of the longest query, in label order."""

    s: np.ndarray
    u: np.ndarray
    product: np.ndarray
    force: np.ndarray


@kernel()
def pair_workspace(longest: int) -> PairWorkspace:
    """Allocate the workspace for queries of up to `longest` documents."""
    return PairWorkspace(np.empty(longest), np.empty(longest), np.empty(longest), np.empty(longest))


@kernel()
def _costs(
    scores: np.ndarray,
    blocks: LabelBlocks,
    first: int,
    last: int,
    out: ValueAndGradient,
) -> None:
    """Fill `out` for the queries first..last - 1."""
    offsets = blocks.offsets
    workspace = pair_workspace(max(1, longest_query(offsets, first, last)))
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        force = out.gradient[begin:end]
        out.value[q] = ranknet_lambdas(scores[begin:end], blocks, q, workspace, force)
        for i in range(begin, end):
            out.gradient[i] = -out.gradient[i]


@kernel()
def ranknet_lambdas(
    scores: np.ndarray, blocks: LabelBlocks, q: int, workspace: PairWorkspace, force: np.ndarray
) -> float:
    """Compute what `pairwise_logistic` does for query q: return the cost, force = -gradient.

    scores, force: (documents of q,), in file order.
    """
    begin, size = blocks.offsets[q], len(scores)
    for p in range(size):
        workspace.s[p] = scores[blocks.order[begin + p] - begin]
    first, last = blocks.queries[q], blocks.queries[q + 1]
    cost = 0.0
    workspace.force[:size] = 0.0
    if last > first + 1:
        cost = ranknet_query(workspace, blocks.starts, first, last)
    for p in range(size):
        force[blocks.order[begin + p] - begin] = workspace.force[p]
    return cost


@kernel()
def ranknet_query(workspace: PairWorkspace, starts: np.ndarray, first: int, last: int) -> float:
    """Return a query's cost; fill the workspace's `force` from its `s`, both in label order.

    The query has the blocks first..last - 1 of `starts`.
    """
    s, u, force = workspace.s, workspace.u, workspace.force
    begin = starts[first]
    size = starts[last] - begin
    span = exponentials(s, size, u)
    top = s[:size].max()
    force[:size] = 0.0
    cost = 0.0
    for b in range(first, last - 1):
        b0, b1 = starts[b] - begin, starts[b + 1] - begin
        cost += add_forces(workspace, PairBlock(b0, b1, b1, size), top, span)
    return cost


@kernel()
def add_forces(workspace: PairWorkspace, pairs: PairBlock, top: float, span: float) -> float:
    """Add the forces of the pairs to the workspace's; return their cost.

    The workspace has the scores of the query in `s` and what `exponentials` gives in `u`; top
    is the largest score, and span the scores' range.
    """
    s, u, product, force = workspace
    b0, b1, begin, end = pairs
    cost = 0.0
    if not span <= SPAN:
        for i in range(b0, b1):
            cost += _row_far(s, i, begin, end, force)
        return cost
    if pays(b1 - b0, end - begin, span):
        return ranknet_blocks(s, u, pairs, top, span, force)
    for start in range(b0, b1, ROWS):
        product[begin:end] = 1.0
        stop = min(start + ROWS, b1)
        for i in range(start, stop - 1, 2):
            _two_rows(u, i, begin, end, product, force)
        if (stop - start) % 2:
            _row(u, stop - 1, begin, end, product, force)
        for i in range(start, stop):
            cost -= (s[i] - top) * (end - begin)
        for j in range(begin, end):
            cost += np.log(product[j])
    return cost


@kernel(reorder=True)
def _two_rows(
    u: np.ndarray, i: int, begin: int, end: int, product: np.ndarray, force: np.ndarray
) -> None:
    """Do `_row` for the documents i and i + 1 at once: one division for two pairs."""
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
def _row(
    u: np.ndarray, i: int, begin: int, end: int, product: np.ndarray, force: np.ndarray
) -> None:
    """Add the forces of document i and the documents begin..end - 1; multiply the products."""
    u_i, total = u[i], 0.0
    for j in range(begin, end):
        both = u_i + u[j]
        pull = u[j] / both
        product[j] *= both
        total += pull
        force[j] -= pull
    force[i] += total


@kernel()
def _row_far(s: np.ndarray, i: int, begin: int, end: int, force: np.ndarray) -> float:
    """Add the same forces with one exponential a pair; return the pairs' cost."""
    cost = 0.0
    for j in range(begin, end):
        difference = s[i] - s[j]
        t = np.exp(-abs(difference))
        pull = (t if difference > 0.0 else 1.0) / (1.0 + t)
        cost += np.log1p(t) + max(0.0, -difference)
        force[i] += pull
        force[j] -= pull
    return cost
