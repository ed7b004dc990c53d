"""Weighted losses of pairs, and two losses of a Markov random field of a query's labels.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: equation 9
with Table 3's losses phi and Table 9's weights V,

    sum over the pairs r_i > r_j of V_ij phi(s_i - s_j).

In the field P(r) is proportional to the product over the pairs of psi(r_i, r_j) = exp(gamma
sign(r_i - r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)). Its pairwise bound is equation 18, -sum over
all pairs of V_ij log(psi(r_i, r_j) / Z_ij), with Z_ij the sum of psi over all pairs of labels. Its
weighted pseudo-likelihood (equations 14 and 16) is -sum_i W_i log P(r_i | the other labels), where

    log P(l | the other labels) = h_i(l) - log sum_k e^{h_i(k)}
    h_i(l) = gamma sum_j sign(l - r_j) (s_i - s_j)

and each label 0 .. L - 1 of the set is possible. The other documents enter h_i(l) only through the
number and the sum of scores of those with a lower label than l, and of those with a higher one: all
h of a query cost O(m L).

The compiled kernel goes over pairs of blocks that have one weight (`WeightedBlocks`). The bound,
with t = gamma (s_i - s_j), L labels and n = L (L - 1) / 2, costs log Z_ij - sign t, Z_ij = n (e^t +
e^-t) + L, sign = 1 for r_i > r_j and 0 for a tie. phi = logistic is the same with gamma = 1/2, n =
1 and L = 0, without ties. With u = e^(gamma s), e^t = u_i / u_j: two exponentials a document serve
all pairs, and the logarithms of `ROWS` pairs are taken as one of their product.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.arithmetic import exp, log
from letorbench.compiled.jit import kernel, longest_query
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.gains import STEEPEST, extent, gain_rule, gather, query_sums
from letorbench.losses.label_order import (
    LOSS_TIE_RULES,
    PAIR_WEIGHTS,
    DocumentWeighted,
    WeightedBlocks,
    block_weight,
    document_weights,
    label_count,
)
from letorbench.parameters import one_of

#: Table 3, with d = s_i - s_j of a pair with r_i > r_j
PAIR_LOSSES = {
    "quadratic": "(1 - d)^2",
    "hinge": "max(0, 1 - d)",
    "exponential": "exp(-d)",
    "logistic": "log(1 + exp(-d))",
}
QUADRATIC, HINGE, EXPONENTIAL, LOGISTIC, FIELD_BOUND = range(5)
#: the number of pairs whose logarithms are taken as one, and the widest span of gamma s for which
#: the product of their Z_ij is a normal number
ROWS, WIDEST = 8, 40.0


class _OfPairs(Loss):
    """The base of the losses of pairs; `kind` is the loss's number in compiled code."""

    kind: int
    weight: str
    ties: str
    gain: str

    @property
    def reads_order(self) -> bool:
        return PAIR_WEIGHTS[self.weight].by_place

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        blocks = WeightedBlocks.of(self.weight, self.ties, self.gain, queries)
        arguments = _weighted_pairs, queries, scores, blocks, self.kind, label_count(queries)
        return in_query_slices(*arguments, documents=1_000, of_pairs=True)


@dataclass(frozen=True)
class PairwiseLoss(_OfPairs):
    """Equation 9, for the losses of `PAIR_LOSSES` and the weights of `PAIR_WEIGHTS`."""

    name = "pairwise"
    formula = "sum over pairs r_i > r_j of weight_ij phi(s_i - s_j)"

    phi: str = one_of(PAIR_LOSSES, "logistic")
    weight: str = one_of(PAIR_WEIGHTS, "1")
    ties: str = one_of(LOSS_TIE_RULES, "breslow")
    gain: str = gain_rule()

    @property
    def kind(self) -> int:
        return list(PAIR_LOSSES).index(self.phi)


@dataclass(frozen=True)
class FieldBound(_OfPairs):
    """Equation 18, the weighted upper bound of a Markov random field by its pairs."""

    name = "wub"
    formula = "-sum over pairs of weight_ij log(psi(r_i, r_j) / Z_ij)"
    kind = FIELD_BOUND

    weight: str = one_of(PAIR_WEIGHTS, "1")
    ties: str = one_of(LOSS_TIE_RULES, "breslow")
    gain: str = gain_rule()


@kernel()
def _weighted_pairs(
    scores: np.ndarray, blocks: WeightedBlocks, kind: int, levels: int, start: int, stop: int,
    out: ValueAndGradient,
) -> None:  # fmt: skip
    """Fill out with the sum of V_ij times the loss of a pair, over the pairs of each query."""
    starts, size = blocks.starts, max(1, longest_query(blocks.offsets, start, stop))
    s, force, product, u = np.empty(size), np.empty(size), np.empty(size), np.empty((2, size))
    bound = kind == FIELD_BOUND
    n, L = (0.5 * levels * (levels - 1.0), float(levels)) if bound else (1.0, 0.0)
    for q in range(start, stop):
        begin, m = blocks.offsets[q], blocks.offsets[q + 1] - blocks.offsets[q]
        order, gradient = blocks.order[begin : begin + m], out.gradient
        gradient[begin : begin + m] = 0.0
        gamma = 0.5 if kind == LOGISTIC else 1.0
        if bound and m > 1:
            gamma = 2.0 / (m * (m - 1.0))
        gather(scores, order, s)
        near = kind >= LOGISTIC and _exponentials(s[:m], gamma, u)
        total = 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1]):
            b0, b1 = starts[b] - begin, starts[b + 1] - begin
            # only the bound has pairs of equal labels; in two blocks these have the weight 0
            for later in range(b if bound else b + 1, blocks.queries[q + 1]):
                l0, l1 = starts[later] - begin, starts[later + 1] - begin
                v = block_weight(blocks, q, b, later)
                if v == 0.0:
                    continue
                force[b0:b1] = 0.0
                force[l0:l1] = 0.0
                for first in range(b0, b1, ROWS):
                    rows = first, min(first + ROWS, b1)
                    if near:
                        total += v * _near_rows(u, rows, l0, l1, n, L, product, force)
                    else:
                        total += v * _far_rows(kind, s, gamma, rows, l0, l1, n, L, force)
                if kind >= LOGISTIC and later > b:  # - sign t
                    upper, lower = 0.0, 0.0
                    for p in range(b0, b1):
                        upper += s[p]
                        force[p] -= l1 - l0
                    for p in range(l0, l1):
                        lower += s[p]
                        force[p] += b1 - b0
                    total -= v * gamma * ((l1 - l0) * upper - (b1 - b0) * lower)
                for p in range(b0, b1):
                    gradient[order[p]] += v * gamma * force[p]
                for p in range(l0 if later > b else l1, l1):
                    gradient[order[p]] += v * gamma * force[p]
        out.value[q] = total


@kernel()
def _exponentials(s: np.ndarray, gamma: float, u: np.ndarray) -> bool:
    """Fill u with e^(gamma s) and e^(-gamma s), from the middle score; False if too far apart."""
    top, bottom = extent(s, len(s))
    if not gamma * (top - bottom) <= WIDEST:
        return False
    for p in range(len(s)):
        u[0, p] = np.exp(gamma * (s[p] - 0.5 * (top + bottom)))
        u[1, p] = 1.0 / u[0, p]
    return True


@kernel()
def _near_rows(
    u: np.ndarray, rows: tuple[int, int], l0: int, l1: int, n: float, L: float, product: np.ndarray,
    force: np.ndarray,
) -> float:  # fmt: skip
    """Return the sum of log Z_ij of some documents with those behind; add d log Z / dt to force."""
    begin, cost = max(rows[0] + 1, l0), 0.0
    product[begin:l1] = 1.0
    for i in range(rows[0], rows[1]):
        columns = slice(max(i + 1, l0), l1)
        above, below = u[0, i], u[1, i]
        force[i] += _row(
            above, below, u[0, columns], u[1, columns], n, L, product[columns], force[columns]
        )
    for j in range(begin, l1):
        cost += np.log(product[j])
    return cost


@kernel(reorder=True)
def _row(
    above: float, below: float, u: np.ndarray, inverse_u: np.ndarray, n: float, L: float,
    product: np.ndarray, force: np.ndarray,
) -> float:  # fmt: skip
    """Do a document's pairs: multiply Z_ij into product, subtract the slopes from force."""
    total = 0.0
    for j in range(len(product)):
        up, down = above * inverse_u[j], below * u[j]
        z = n * (up + down) + L
        product[j] *= z
        slope = n * (up - down) / z
        total += slope
        force[j] -= slope
    return total


@kernel()
def _far_rows(
    kind: int, s: np.ndarray, gamma: float, rows: tuple[int, int], l0: int, l1: int, n: float,
    L: float, force: np.ndarray,
) -> float:  # fmt: skip
    """Do the same from the scores, for any kind of loss, pair by pair."""
    cost = 0.0
    for i in range(rows[0], rows[1]):
        for j in range(max(i + 1, l0), l1):
            loss, slope = _pair(kind, gamma * (s[i] - s[j]), n, L)
            cost += loss
            force[i] += slope
            force[j] -= slope
    return cost


@kernel()
def _pair(kind: int, t: float, n: float, L: float) -> tuple[float, float]:
    """Return a pair's phi(t), or log Z, and its derivative."""
    if kind == QUADRATIC:
        return (1.0 - t) ** 2, -2.0 * (1.0 - t)
    if kind == HINGE:
        return (1.0 - t, -1.0) if t < 1.0 else (0.0, 0.0)
    if kind == EXPONENTIAL:
        bounded = min(-t, STEEPEST)
        e = np.exp(bounded)
        return e * (1.0 - t - bounded), -e
    e = np.exp(-abs(t))
    z = n * (1.0 + e * e) + L * e  # Z e^(-|t|)
    return abs(t) + np.log(z), n * (1.0 - e * e) / z * (1.0 if t > 0.0 else -1.0)


#: the largest number of values h, which are all in memory
MOST = 50_000_000


class PseudoLikelihood(DocumentWeighted):
    """Equation 16."""

    name = "wpll"
    formula = "-sum_i weight_i log P(r_i | the other labels)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        levels, r = label_count(queries), queries.labels
        if levels * max(queries.n_docs, levels) > MOST:
            raise DataError(
                f"wpll: found {queries.n_docs:,} documents and labels up to {levels - 1:,}, "
                f"expected at most {MOST:,} pairs of a document, or a label, and a label"
            )
        weights, order = np.empty(queries.n_docs), queries.by_label.order
        weights[order] = document_weights(self.weight, self.ties, queries, self.gain)
        query = np.repeat(np.arange(queries.n_queries), queries.lengths)
        m = queries.lengths.astype(np.float64)
        gamma = np.divide(2.0, m * (m - 1.0), out=np.zeros_like(m), where=m > 1.0)

        def by_label(values: np.ndarray) -> np.ndarray:
            """(n_docs,) -> (n_queries, L): the sums over the documents of each label."""
            size = queries.n_queries * levels
            return np.bincount(query * levels + r, values, size).reshape(-1, levels)

        # signs[k, l] = sign(l - k), so that h = slope s - middle
        signs = np.sign(np.arange(levels) - np.arange(levels)[:, None]).astype(np.float64)
        slope = gamma[:, None] * np.einsum("qk,kl->ql", by_label(np.ones(queries.n_docs)), signs)
        middle = gamma[:, None] * np.einsum("qk,kl->ql", by_label(scores), signs)
        h = slope[query] * scores[:, None] - middle[query]
        h -= h.max(axis=1, keepdims=True)
        e = exp(h)
        z = e.sum(axis=1)
        at_own_label = np.arange(queries.n_docs), r
        by_h = weights[:, None] * e / z[:, None]
        by_h[at_own_label] -= weights
        # s_i is in the document's own h, and through the sums in those of the whole query
        pulls = np.stack([query_sums(column, queries) for column in by_h.T], axis=1)
        through = gamma[:, None] * np.einsum("ql,kl->qk", pulls, signs)
        gradient = (by_h * slope[query]).sum(axis=1) - through[query, r]
        return ValueAndGradient(query_sums(weights * (log(z) - h[at_own_label]), queries), gradient)
