"""Logistic losses: of documents, of the best document of a query, and of pairs (RankNet's).

RankNet: for a pair of documents with labels r_i > r_j the cost is C = log(1 + exp(-(s_i - s_j))),
and its derivative is dC/ds_i = -dC/ds_j = -sigma(s_j - s_i), sigma(t) = 1 / (1 + exp(-t)) (Burges
et al., ICML 2005; Burges, Ragno, Le, NIPS 2006, equations 6 to 8). `pairwise_logistic` computes
this in plain NumPy. The compiled kernel is fast for three reasons:

* It reads the documents of a query by descending label (`QuerySet.by_label`). The documents with a
  lower label than document i are then the contiguous ones behind i's block.
* With u = exp(s - max s), sigma(s_j - s_i) = u_j / (u_i + u_j): one exponential a document instead
  of one a pair. If the scores of a query span more than SPAN, each pair has its own.
* The logarithms of many pairs are taken as the one logarithm of their product.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from letorbench.compiled.arithmetic import exp, log, log1p
from letorbench.compiled.jit import kernel
from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.gains import (
    SPAN,
    VECTOR,
    exponentials,
    gather,
    inverse_or_zero,
    over_blocks,
    padded,
    query_maxima,
    query_sums,
    scatter,
)


@dataclass(frozen=True)
class Logistic(Loss):
    """The negative log-likelihood of "relevant", r >= 1, with log-odds s."""

    name = "logistic"
    formula = "sum_i log(1 + exp(-y_i s_i)), y_i = 1 where r_i >= 1, else -1"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        y = np.where(queries.labels >= 1, 1.0, -1.0)
        margin = y * scores
        e = exp(-np.abs(margin))
        cost = log1p(e) + np.maximum(0.0, -margin)
        slope = -y * np.where(margin > 0.0, e, 1.0) / (1.0 + e)
        return ValueAndGradient(query_sums(cost, queries), slope)


@dataclass(frozen=True)
class MulticlassLogistic(Loss):
    """The multiclass logistic loss: -log softmax(s) of the best document.

    T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equation
    5. The paper has one best document in a query. Of several, this is the mean of their losses,
    which is convex too. A query without relevant documents has no loss.
    """

    name = "mcl"
    formula = "-log softmax(s) of the best document (several: the mean)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        p = best_documents(queries)
        has_best = query_sums(p, queries)
        shifted = scores - np.repeat(query_maxima(scores, queries), queries.lengths)
        e = exp(shifted)
        z = np.where(queries.lengths > 0, query_sums(e, queries), 1.0)
        value = has_best * log(z) - query_sums(p * shifted, queries)
        return ValueAndGradient(value, np.repeat(has_best / z, queries.lengths) * e - p)


def best_documents(queries: QuerySet) -> np.ndarray:
    """Return 1 / n for the n documents of a query's highest label above 0, else 0, (n_docs,)."""
    labels = queries.labels.astype(np.float64)
    highest = np.repeat(query_maxima(labels, queries), queries.lengths)
    best = ((labels == highest) & (labels > 0)).astype(np.float64)
    return best * np.repeat(inverse_or_zero(query_sums(best, queries)), queries.lengths)


#: a product of factors from 2 e^(-span) to 2 is a normal number while span x factors is below this
LOGARITHM = 640.0


def pairwise_logistic(scores: np.ndarray, labels: np.ndarray) -> tuple[float, np.ndarray]:
    """Compute RankNet's cost of one query, and its derivative (minus lambda) by each score.

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


@dataclass(frozen=True)
class RankNetLoss(Loss):
    """The sum of `pairwise_logistic` over the pairs of each query."""

    name = "ranknet"
    formula = "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        arguments = _costs, queries, scores, queries.by_label
        return in_query_slices(*arguments, documents=1_000, of_pairs=True)


@kernel()
def _costs(
    scores: np.ndarray, blocks: LabelBlocks, first: int, last: int, out: ValueAndGradient
) -> None:
    offsets = blocks.offsets
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        out.value[q] = ranknet_lambdas(scores[begin:end], blocks, q, out.gradient[begin:end])
        for i in range(begin, end):
            out.gradient[i] = -out.gradient[i]


@kernel()
def ranknet_lambdas(scores: np.ndarray, blocks: LabelBlocks, q: int, force: np.ndarray) -> float:
    """Return the cost of query q as `pairwise_logistic`, and fill force = -gradient."""
    begin, size = blocks.offsets[q], len(scores)
    order = blocks.order[begin : begin + size] - begin
    ordered, lower = np.zeros((3, size)), np.empty((3, size + VECTOR))
    s, u, by_label = ordered[0], ordered[1], ordered[2]
    gather(scores, order, s)
    span = exponentials(s, size, u)
    cost = over_blocks(_add_forces, blocks, q, (s, u, by_label, lower, span))
    scatter(by_label, order, 1.0, force)
    return cost


@kernel()
def _add_forces(total: float, b0: int, b1: int, end: int, state: Any) -> float:
    """Add the forces of the pairs (b0..b1 - 1) x (b1..end - 1); return the cost with theirs."""
    s, u, force, padded_lower, span = state
    cost = 0.0
    if not span <= SPAN:
        for i in range(b0, b1):
            cost += _row_far(s, i, b1, end, force)
        return total + cost
    size, top = end - b1, s[:end].max()
    stop = padded(size)
    lower, product, push = padded_lower[0, :stop], padded_lower[1, :stop], padded_lower[2, :stop]
    lower[size:], push[:] = 0.0, 0.0
    for j in range(size):
        lower[j] = u[b1 + j]
    together = int(LOGARITHM / max(span, 1.0))
    for first in range(b0, b1, together):
        last = min(first + together, b1)
        product[:] = 1.0
        for i in range(first, last):
            force[i] += _row(u[i], lower, product, push)
            cost -= (s[i] - top) * size
        cost += _sum_of_logarithms(product[:size], together // (last - first))
    for j in range(size):
        force[b1 + j] -= push[j]
    return total + cost


@kernel()
def _sum_of_logarithms(values: np.ndarray, together: int) -> float:
    """Return the sum of log(values); the product of `together` of them is a normal number."""
    total = 0.0
    for first in range(0, len(values), together):
        product = 1.0
        for j in range(first, min(first + together, len(values))):
            product *= values[j]
        total += np.log(product)
    return total


@kernel(reorder=True)
def _row(u_i: float, lower: np.ndarray, product: np.ndarray, push: np.ndarray) -> float:
    """Add the pulls u_j / (u_i + u_j) to `push`, multiply the products; return the pulls' sum."""
    total = 0.0
    for j in range(len(lower)):
        both = u_i + lower[j]
        pull = lower[j] / both
        product[j] *= both
        total += pull
        push[j] += pull
    return total


@kernel()
def _row_far(s: np.ndarray, i: int, begin: int, end: int, force: np.ndarray) -> float:
    """Add the same forces with one exponential for each pair; return the pairs' cost."""
    cost = 0.0
    for j in range(begin, end):
        difference = s[i] - s[j]
        t = np.exp(-abs(difference))
        pull = (t if difference > 0.0 else 1.0) / (1.0 + t)
        cost += np.log1p(t) + max(0.0, -difference)
        force[i] += pull
        force[j] -= pull
    return cost
