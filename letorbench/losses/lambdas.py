"""Lambda functions: forces between documents that train a ranker without being a loss's gradient.

A lambda function gives the force on the more relevant document i of a pair (i, j) from the
difference d = s_i - s_j of the scores, a margin, and |dNDCG|, the change of NDCG if i and j swap
their ranks: (2^r_i - 2^r_j) |D(rank i) - D(rank j)| / Z. Document j feels the opposite force, so
the forces of a query sum to zero (Burges, Ragno, Le, NIPS 2006).

`pair_lambdas` computes this in plain NumPy. The compiled kernels read the documents of a query by
descending label (`QuerySet.by_label`), so the pairs of document i are the contiguous documents
behind its block. Forces on documents of equal scores are means over all their orders, see `gains`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from letorbench.compiled.arithmetic import sigmoid
from letorbench.compiled.jit import kernel
from letorbench.conventions import gains
from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.gains import (
    SPAN,
    exponentials,
    gather,
    inverse_ideal_dcg,
    mean_difference,
    mean_of_ranks,
    mean_swaps,
    over_blocks,
    padded,
    scatter,
    tied_ranks,
    truncated_discount,
)

#: the lambda functions' numbers in compiled code, in the order of `LAMBDAS`
RANKNET, RANKNET_NDCG, STEP, SPRING, NDCG_DIFFERENCE = range(5)


#: d, |dNDCG|, margin -> the force on the more relevant document of each pair, arrays (n_pairs,)
LAMBDAS: dict[str, Callable[[np.ndarray, np.ndarray, float], np.ndarray]] = {
    "ranknet": lambda d, swap, margin: sigmoid(margin - d),
    "ranknet-ndcg": lambda d, swap, margin: swap * sigmoid(margin - d),
    "step": lambda d, swap, margin: swap * (d < margin),
    "spring": lambda d, swap, margin: swap * np.maximum(0.0, margin - d),
    "ndcg-difference": lambda d, swap, margin: swap / np.maximum(np.abs(d), margin),
}


class LambdaRule(NamedTuple):
    """A lambda function on one query set, as a compiled kernel reads it."""

    kind: int
    neighbours: bool
    margin: float
    gains: np.ndarray  # (n_blocks,), of each block of one label
    discount: np.ndarray  # (longest query,), D of the ranks 1, 2, ...
    factor: np.ndarray  # (n_queries,), the factor of a query's forces: 1 / Z, or 1


@dataclass(frozen=True)
class Lambda:
    """A lambda function with its choices (Burges, Ragno, Le, NIPS 2006, section 6.2).

    The discount is the paper's, 1 / log2(1 + rank). A query without relevant documents has no
    forces. For the fields see `letorbench.rankers.lambdarank.LambdaRank`.
    """

    function: str = "ranknet-ndcg"
    neighbours: bool = False
    margin: float = 0.0
    truncation: int = 0
    gain: str = "exp2"

    def __post_init__(self) -> None:
        if self.function == "ndcg-difference" and not self.margin > 0.0:
            raise UsageError(f"{self.function}: found margin={self.margin}, expected more than 0")

    def rule(self, queries: QuerySet) -> LambdaRule:
        """Return the function on one query set; DataError if a query has too many documents."""
        require_comparable(queries)
        kind, factor = list(LAMBDAS).index(self.function), np.ones(queries.n_queries)
        if kind != RANKNET:
            factor = inverse_ideal_dcg(queries, self.truncation, self.gain)
        G, D = (
            gains(queries.by_label.labels, self.gain),
            truncated_discount(queries, self.truncation),
        )
        return LambdaRule(kind, self.neighbours, float(self.margin), G, D, factor)

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> np.ndarray:
        """Return the force (n_docs,) on each document, as scores in file order; positive is up."""
        arguments = _lambdas, queries, scores, queries.by_label, self.rule(queries)
        return in_query_slices(*arguments, documents=2_000).gradient


def pair_lambdas(function: Lambda, scores: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Return the force (n_docs,) on every document of one query, pair by pair, in plain NumPy.

    Examples
    --------
    Swapping two documents costs (2^1 - 2^0) (1 - 1 / log2(3)) of NDCG; equal scores give half:

    >>> pair_lambdas(Lambda(), np.array([0.0, 0.0]), np.array([1, 0])).round(4)
    array([ 0.1845, -0.1845])
    """
    n = len(scores)
    gain = gains(labels, function.gain)
    D = 1.0 / np.log2(1.0 + np.arange(1, n + 1))
    if function.truncation:
        D[function.truncation :] = 0.0
    Z = np.sort(gain)[::-1] @ D
    i, j = np.nonzero(labels[:, None] > labels)
    near = 1 if function.neighbours else np.inf
    chance, difference = mean_swaps(scores, i, j, D, lambda x, y: np.abs(x - y) <= near)
    swap = (gain[i] - gain[j]) * difference / Z
    pull = LAMBDAS[function.function](scores[i] - scores[j], swap, function.margin)
    return np.bincount(i, chance * pull, n) - np.bincount(j, chance * pull, n)


class Documents(NamedTuple):
    """The documents of a query, in label order."""

    s: np.ndarray
    gain: np.ndarray
    discount: np.ndarray  # the mean of D over the document's ranks
    force: np.ndarray
    apart: np.ndarray  # the mean difference of D at two of these ranks
    rank: np.ndarray  # the first of these ranks, from 0
    tied: np.ndarray  # the number of these ranks


class Lower(NamedTuple):
    """The lower documents of a block's pairs, padded with zeros to whole vectors."""

    u: np.ndarray
    gain: np.ndarray
    discount: np.ndarray
    push: np.ndarray  # minus the force on them


@kernel()
def _lambdas(
    scores: np.ndarray, blocks: LabelBlocks, rule: LambdaRule, first: int, last: int,
    out: ValueAndGradient,
) -> None:  # fmt: skip
    """Fill the gradient with the forces of the queries first..last - 1."""
    offsets = blocks.offsets
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        force = out.gradient[begin:end]
        force[:] = 0.0
        if blocks.queries[q + 1] - blocks.queries[q] < 2:
            continue
        query_lambdas(scores[begin:end], blocks, q, rule, rule.discount, force)


@kernel()
def query_lambdas(
    scores: np.ndarray, blocks: LabelBlocks, q: int, rule: LambdaRule, cost_discount: np.ndarray,
    force: np.ndarray,
) -> float:  # fmt: skip
    """Fill `force`, in file order, for query q; return its DCG under `cost_discount`."""
    begin, size = blocks.offsets[q], len(scores)
    order = blocks.order[begin : begin + size] - begin
    x, n = np.zeros((5, size)), np.empty((2, size), np.int64)
    documents = Documents(x[0], x[1], x[2], x[3], x[4], n[0], n[1])
    gather(scores, order, documents.s)
    ties = tied_ranks(documents.s, documents.rank, documents.tied)
    dcg = 0.0
    for b in range(blocks.queries[q], blocks.queries[q + 1]):
        for p in range(blocks.starts[b] - begin, blocks.starts[b + 1] - begin):
            rank, tied = documents.rank[p], documents.tied[p]
            documents.gain[p] = rule.gains[b]
            documents.discount[p] = mean_of_ranks(rule.discount, rank, tied)
            documents.apart[p] = mean_difference(rule.discount, rank, tied, tied)
            dcg += rule.gains[b] * mean_of_ranks(cost_discount, rank, tied)
    if rule.neighbours:
        _neighbour_pairs(rule, documents)
    else:
        u = np.empty(size)
        near = rule.kind == RANKNET_NDCG and abs(rule.margin) <= SPAN
        near = near and exponentials(documents.s, size, u) <= SPAN
        over_blocks(_add_pairs, blocks, q, (rule, near, ties, u, documents))
    scatter(documents.force, order, rule.factor[q], force)
    return dcg


@kernel()
def pair_force(kind: int, difference: float, swap: float, margin: float) -> float:
    """Return the force on the more relevant document, as `LAMBDAS` does; swap is |dNDCG|."""
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
def _add_pairs(total: float, b0: int, b1: int, size: int, state: Any) -> float:
    """Add the forces of the pairs (b0..b1 - 1) x (b1..size - 1), without the query's factor."""
    rule, near, ties, u, documents = state  # near: u is used; ties: some scores are equal
    s, gain, discount, force, apart = documents[:5]
    if near:
        _ranknet_ndcg_block(b0, b1, size, np.exp(-rule.margin), u, documents)
        if not ties:
            return total
    for i in range(b0, b1):
        for j in range(b1, size):
            tied = s[i] == s[j]
            if near and not tied:
                continue
            difference = apart[i] if tied else abs(discount[i] - discount[j])
            swap = (gain[i] - gain[j]) * difference
            pull = pair_force(rule.kind, s[i] - s[j], swap, rule.margin)
            force[i] += pull
            force[j] -= pull
    return total


@kernel()
def _ranknet_ndcg_block(
    b0: int, b1: int, size: int, shrink: float, u: np.ndarray, documents: Documents
) -> None:
    """Add the pairs' forces u_j / (shrink u_i + u_j) |dNDCG|, which are 0 for equal scores."""
    x = np.zeros((4, padded(size - b1)))
    lower = Lower(x[0], x[1], x[2], x[3])
    for j in range(size - b1):
        lower.u[j], lower.gain[j] = u[b1 + j], documents.gain[b1 + j]
        lower.discount[j] = documents.discount[b1 + j]
    for i in range(b0, b1 - 1, 2):
        _two_rows(i, shrink, u, documents, lower)
    if (b1 - b0) % 2:
        _row(b1 - 1, shrink, u, documents, lower)
    for j in range(size - b1):
        documents.force[b1 + j] -= lower.push[j]


@kernel(reorder=True)
def _two_rows(i: int, shrink: float, all_u: np.ndarray, documents: Documents, lower: Lower) -> None:
    """Do `_row` for the documents i and i + 1 of one label: one division for two pairs."""
    u, gain, discount, push = lower
    u0, u1 = all_u[i] * shrink, all_u[i + 1] * shrink
    gain_i, d0, d1 = documents.gain[i], documents.discount[i], documents.discount[i + 1]
    total0, total1 = 0.0, 0.0
    for j in range(len(u)):
        a, b = u0 + u[j], u1 + u[j]
        shared = u[j] / (a * b) * (gain_i - gain[j])
        pull0 = shared * b * abs(d0 - discount[j])
        pull1 = shared * a * abs(d1 - discount[j])
        total0 += pull0
        total1 += pull1
        push[j] += pull0 + pull1
    documents.force[i] += total0
    documents.force[i + 1] += total1


@kernel(reorder=True)
def _row(i: int, shrink: float, all_u: np.ndarray, documents: Documents, lower: Lower) -> None:
    u, gain, discount, push = lower
    u_i, gain_i, d_i, total = all_u[i] * shrink, documents.gain[i], documents.discount[i], 0.0
    for j in range(len(u)):
        pull = u[j] / (u_i + u[j]) * (gain_i - gain[j]) * abs(d_i - discount[j])
        total += pull
        push[j] += pull
    documents.force[i] += total


@kernel()
def _neighbour_pairs(rule: LambdaRule, documents: Documents) -> None:
    """Add the forces of the documents at neighbouring ranks, without the query's factor."""
    D, rank, size = rule.discount, documents.rank, len(documents.rank)
    at = np.full(size, -1)  # the documents by rank
    for p in range(size):
        position = rank[p]
        while at[position] >= 0:
            position += 1
        at[position] = p
    begin = 0
    # Of n documents that share ranks, two are neighbours in 2 / n of all orders; one of them and
    # one of the m documents that share the next ranks are neighbours in 1 / (n m).
    while begin < size:
        n = documents.tied[at[begin]]
        middle = begin + n
        if n > 1:
            swap = (D[begin] - D[middle - 1]) / (n - 1.0)
            for x in range(begin, middle):
                _neighbours(rule, documents, at[x], at[begin:x], swap, 2.0 / n)
        if middle < size:
            m = documents.tied[at[middle]]
            swap = D[middle - 1] - D[middle]
            for x in range(middle, middle + m):
                _neighbours(rule, documents, at[x], at[begin:middle], swap, 1.0 / (n * m))
        begin = middle


@kernel()
def _neighbours(
    rule: LambdaRule, documents: Documents, p: int, others: np.ndarray, swap: float, chance: float
) -> None:
    """Add `chance` times the forces of document p and each of the others."""
    s, gain, force = documents.s, documents.gain, documents.force
    for other in others:
        i, j = p, other
        if gain[i] == gain[j]:
            continue
        if gain[i] < gain[j]:
            i, j = j, i
        pull = pair_force(rule.kind, s[i] - s[j], (gain[i] - gain[j]) * swap, rule.margin)
        force[i] += chance * pull
        force[j] -= chance * pull
