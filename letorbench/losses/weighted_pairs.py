"""Weighted losses of pairs, and the pairwise bound of a Markov random field.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: equation
9 with Table 3's losses phi and Table 9's weights V,

    sum over the pairs r_i > r_j of V_ij phi(s_i - s_j),

and equation 18, -sum over all pairs of V_ij log(psi(r_i, r_j) / Z_ij) with
psi(r_i, r_j) = exp(gamma sign(r_i - r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)), and Z_ij the sum
of psi over all pairs of labels.

`reference` computes both for one query in plain NumPy. The compiled kernels below it go over pairs
of blocks that have one weight (`WeightedBlocks`):

* phi = logistic is RankNet's cost, with the same sums as `letorbench.losses.pairwise_logistic`.
* The bound, with t = gamma (s_i - s_j), L labels and n = L (L - 1) / 2, costs log Z_ij - sign t,
  Z_ij = n (e^t + e^-t) + L, sign = 1 for r_i > r_j and 0 for a tie. With u = e^(gamma s),
  e^t = u_i / u_j: two exponentials a document serve all pairs, and the logarithms of `ROWS` pairs
  are taken as the one of their product.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import (
    ValueAndGradient,
    in_query_slices,
    require_comparable,
)
from letorbench.losses.exponentials import exponentials, gather
from letorbench.losses.label_order import (
    PairWeighted,
    WeightedBlocks,
    block_weight,
    label_count,
)
from letorbench.losses.pairwise_logistic import PairBlock, add_forces, pair_workspace

#: Table 3, with d = s_i - s_j of a pair with r_i > r_j
PAIR_LOSSES = {
    "quadratic": "(1 - d)^2",
    "hinge": "max(0, 1 - d)",
    "exponential": "exp(-d)",
    "logistic": "log(1 + exp(-d))",
}
QUADRATIC, HINGE, EXPONENTIAL = range(3)
#: from here on, e^t is continued by its tangent, so that it stays finite
STEEPEST = 30.0
#: pairs whose logarithms are taken as one, and the widest span of gamma s at which the product of
#: so many Z_ij is a normal number
ROWS, WIDEST = 8, 40.0


def reference(
    s: np.ndarray, r: np.ndarray, V: np.ndarray, phi: str, levels: int
) -> tuple[float, np.ndarray]:
    """Return the loss of one query and its gradient.

    s, r (m,) are the scores and labels in label order, V (m, m) the weights of the pairs (i, j)
    with i before j, phi a name of Table 3 or "wub", and levels is L, the number of labels.
    """
    m = len(s)
    i, j = np.triu_indices(m, 1)
    sign = (r[i] > r[j]).astype(float)
    d = s[i] - s[j]
    if phi == "wub":
        gamma = 2.0 / (m * (m - 1.0)) if m > 1 else 0.0
        t, n = gamma * d, levels * (levels - 1) / 2
        log_z = np.logaddexp(np.logaddexp(t, -t) + np.log(n), np.log(levels))
        expected_sign = n * (np.exp(t - log_z) - np.exp(-t - log_z))
        loss, slope = log_z - sign * t, gamma * (expected_sign - sign)
    else:
        bounded = np.minimum(-d, STEEPEST)
        e = np.exp(bounded)
        loss, slope = {
            "quadratic": ((1.0 - d) ** 2, -2.0 * (1.0 - d)),
            "hinge": (np.maximum(0.0, 1.0 - d), np.where(d < 1.0, -1.0, 0.0)),
            "exponential": (e * (1.0 - d - bounded), -e),
            "logistic": (np.logaddexp(0.0, -d), -np.exp(-np.logaddexp(0.0, d))),
        }[phi]
        loss, slope = sign * loss, sign * slope  # only the pairs r_i > r_j
    weight = V[i, j]
    gradient = np.bincount(i, weight * slope, m) - np.bincount(j, weight * slope, m)
    return float(weight @ loss), gradient


@dataclass(frozen=True)
class PairwiseLoss(PairWeighted):
    """Equation 9.

    Parameters
    ----------
    phi : str
        A name of Table 3, `PAIR_LOSSES`.
    weight : str
        A weight of Table 9, `PAIR_WEIGHTS`.
    ties : {"breslow", "file"}
        See `letorbench.losses.label_order`.
    """

    name = "pairwise"
    formula = "sum over pairs r_i > r_j of weight_ij phi(s_i - s_j)"
    choices = {"phi": tuple(PAIR_LOSSES), **PairWeighted.choices}

    phi: str = "logistic"
    weight: str = "1"
    ties: str = "breslow"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        require_comparable(queries)
        blocks = WeightedBlocks.of(self.weight, self.ties, queries)
        if self.phi == "logistic":
            return in_query_slices(_logistic_pairs, queries, scores, blocks, documents=1_000)
        kind = list(PAIR_LOSSES).index(self.phi)
        arguments = _weighted_pairs, queries, scores, blocks, kind
        return in_query_slices(*arguments, documents=1_000, cost=queries.lengths**2)


@dataclass(frozen=True)
class FieldBound(PairWeighted):
    """Equation 18, the weighted upper bound of a Markov random field by its pairs.

    Parameters
    ----------
    weight : str
        A weight of Table 9, `PAIR_WEIGHTS`.
    ties : {"breslow", "file"}
        See `letorbench.losses.label_order`.
    """

    name = "wub"
    formula = "-sum over pairs of weight_ij log(psi(r_i, r_j) / Z_ij)"

    weight: str = "1"
    ties: str = "breslow"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        require_comparable(queries)
        blocks = WeightedBlocks.of(self.weight, self.ties, queries)
        arguments = _field_pairs, queries, scores, blocks, label_count(queries)
        return in_query_slices(*arguments, documents=1_000, cost=queries.lengths**2)


@kernel()
def _weighted_pairs(
    scores: np.ndarray,
    blocks: WeightedBlocks,
    kind: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with the sum of V_ij phi(s_i - s_j) over the pairs r_i > r_j, pair by pair."""
    order, starts, gradient = blocks.order, blocks.starts, out.gradient
    for q in range(start, stop):
        last, total = blocks.queries[q + 1], 0.0
        gradient[blocks.offsets[q] : blocks.offsets[q + 1]] = 0.0
        for b in range(blocks.queries[q], last):
            for p in range(starts[b], starts[b + 1]):
                i, mine = order[p], 0.0
                for later in range(b + 1, last):
                    v = block_weight(blocks, q, b, later)
                    for r in range(starts[later], starts[later + 1]):
                        j = order[r]
                        loss, slope = _pair_loss(kind, scores[i] - scores[j])
                        total += v * loss
                        mine += v * slope
                        gradient[j] -= v * slope
                gradient[i] += mine
        out.value[q] = total


@kernel()
def _pair_loss(kind: int, d: float) -> tuple[float, float]:
    """Return phi(d) and its derivative, d = s_i - s_j of a pair r_i > r_j."""
    if kind == QUADRATIC:
        return (1.0 - d) ** 2, -2.0 * (1.0 - d)
    if kind == HINGE:
        return (1.0 - d, -1.0) if d < 1.0 else (0.0, 0.0)
    t = min(-d, STEEPEST)
    e = np.exp(t)
    return e * (1.0 - d - t), -e


@kernel()
def _logistic_pairs(
    scores: np.ndarray, blocks: WeightedBlocks, start: int, stop: int, out: ValueAndGradient
) -> None:
    """Fill out with the sum of V_ij log(1 + exp(-(s_i - s_j))) over the pairs r_i > r_j."""
    starts, order = blocks.starts, blocks.order
    workspace = pair_workspace(max(1, longest_query(blocks.offsets, start, stop)))
    s, u, force = workspace.s, workspace.u, workspace.force
    for q in range(start, stop):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        first, last, size = blocks.queries[q], blocks.queries[q + 1], end - begin
        out.value[q] = 0.0
        out.gradient[begin:end] = 0.0
        if last - first < 2:
            continue
        gather(scores, order[begin:end], s)
        span, top = exponentials(s, size, u), s[:size].max()
        for b in range(first, last - 1):
            b0, b1 = starts[b] - begin, starts[b + 1] - begin
            for later in range(b + 1, last):
                v = block_weight(blocks, q, b, later)
                if v == 0.0:
                    continue
                l0, l1 = starts[later] - begin, starts[later + 1] - begin
                force[b0:b1] = 0.0
                force[l0:l1] = 0.0
                out.value[q] += v * add_forces(workspace, PairBlock(b0, b1, l0, l1), top, span)
                for p in range(b0, b1):
                    out.gradient[order[begin + p]] -= v * force[p]
                for p in range(l0, l1):
                    out.gradient[order[begin + p]] -= v * force[p]


@kernel()
def _field_pairs(
    scores: np.ndarray,
    blocks: WeightedBlocks,
    levels: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with the sum of V_ij (log Z_ij - sign t) over all pairs of a query.

    Pairs of equal labels in two blocks have the weight 0.
    """
    starts, order = blocks.starts, blocks.order
    size = max(1, longest_query(blocks.offsets, start, stop))
    s, force, product = np.empty(size), np.empty(size), np.empty(size)
    u = np.empty((2, size))
    for q in range(start, stop):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        m = end - begin
        out.value[q] = 0.0
        out.gradient[begin:end] = 0.0
        if m < 2:
            continue
        gamma = 2.0 / (m * (m - 1.0))
        gather(scores, order[begin:end], s)
        near = _field_exponentials(s, m, gamma, u)
        for b in range(blocks.queries[q], blocks.queries[q + 1]):
            b0, b1 = starts[b] - begin, starts[b + 1] - begin
            for later in range(b, blocks.queries[q + 1]):
                l0, l1 = starts[later] - begin, starts[later + 1] - begin
                v = block_weight(blocks, q, b, later)
                if v == 0.0:
                    continue
                force[b0:b1] = 0.0
                force[l0:l1] = 0.0
                pairs = PairBlock(b0, b1, l0, l1)
                if near:
                    cost = _near_field(u, pairs, levels, product, force)
                else:
                    cost = _far_field(s, gamma, pairs, levels, force)
                if later > b:
                    cost -= gamma * ((l1 - l0) * s[b0:b1].sum() - (b1 - b0) * s[l0:l1].sum())
                    force[b0:b1] -= l1 - l0
                    force[l0:l1] += b1 - b0
                out.value[q] += v * cost
                for p in range(b0, b1):
                    out.gradient[order[begin + p]] += v * gamma * force[p]
                if later > b:
                    for p in range(l0, l1):
                        out.gradient[order[begin + p]] += v * gamma * force[p]


@kernel()
def _field_exponentials(s: np.ndarray, m: int, gamma: float, u: np.ndarray) -> bool:
    """Fill u with e^(gamma s) and e^(-gamma s), from the middle score; False if too far apart."""
    top, bottom = s[:m].max(), s[:m].min()
    if not gamma * (top - bottom) <= WIDEST:
        return False
    middle = 0.5 * (top + bottom)
    for p in range(m):
        u[0, p] = np.exp(gamma * (s[p] - middle))
        u[1, p] = 1.0 / u[0, p]
    return True


@kernel()
def _near_field(
    u: np.ndarray, pairs: PairBlock, levels: int, product: np.ndarray, force: np.ndarray
) -> float:
    """Sum log Z_ij of the pairs of two blocks, or of one with itself; add d log Z / dt to force."""
    b0, b1, l0, l1 = pairs
    cost = 0.0
    for start in range(b0, b1, ROWS):
        begin = start + 1 if l0 == b0 else l0  # of a block with itself, the pairs behind only
        product[begin:l1] = 1.0
        for i in range(start, min(start + ROWS, b1)):
            first = i + 1 if l0 == b0 else l0
            force[i] += _field_row(
                u[:, i], u[:, first:l1], float(levels), product[first:l1], force[first:l1]
            )
        for j in range(begin, l1):
            cost += np.log(product[j])
    return cost


@kernel(reorder=True)
def _field_row(
    own: np.ndarray, u: np.ndarray, levels: float, product: np.ndarray, force: np.ndarray
) -> float:
    """Do a document's pairs: multiply Z_ij into product, take the slopes away from force."""
    n = 0.5 * levels * (levels - 1.0)
    above, below, total = own[0], own[1], 0.0
    for j in range(len(product)):
        up, down = above * u[1, j], below * u[0, j]
        z = n * (up + down) + levels
        product[j] *= z
        slope = n * (up - down) / z
        total += slope
        force[j] -= slope
    return total


@kernel()
def _far_field(
    s: np.ndarray, gamma: float, pairs: PairBlock, levels: int, force: np.ndarray
) -> float:
    """Do as `_near_field` from the scores, with an exponential and a logarithm a pair."""
    b0, b1, l0, l1 = pairs
    n, cost = 0.5 * levels * (levels - 1.0), 0.0
    for i in range(b0, b1):
        for j in range(i + 1 if l0 == b0 else l0, l1):
            t = gamma * (s[i] - s[j])
            e = np.exp(-abs(t))
            z = n * (1.0 + e * e) + levels * e  # Z_ij e^(-|t|)
            cost += abs(t) + np.log(z)
            slope = n * (1.0 - e * e) / z * (1.0 if t > 0.0 else -1.0)
            force[i] += slope
            force[j] -= slope
    return cost
