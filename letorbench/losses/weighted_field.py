"""The pairwise bound of a Markov random field, where two blocks of equal labels have one weight.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equation
18; `weighted_pairs` says it pair by pair. With t = gamma (s_i - s_j), L labels and
n = L (L - 1) / 2, a pair costs log Z_ij - sign t, Z_ij = n (e^t + e^-t) + L, sign = 1 for
r_i > r_j and 0 for a tie. With u = e^(gamma s), e^t = u_i / u_j: two exponentials a document
serve all pairs, and the logarithms of `ROWS` pairs are taken as the one of their product.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import ValueAndGradient
from letorbench.losses.exponentials import gather
from letorbench.losses.label_order import PairWeights, block_weight

#: pairs whose logarithms are taken as one, and the widest span of gamma s at which the product of
#: so many Z_ij is a normal number
ROWS, WIDEST = 8, 40.0


@kernel()
def weighted_field(
    scores: np.ndarray,
    blocks: LabelBlocks,
    weights: PairWeights,
    levels: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with the sum of V_ij (log Z_ij - sign t) over all pairs of a query.

    weights.e: equal within a block.
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
        near = _exponentials(s, m, gamma, u)
        for b in range(blocks.queries[q], blocks.queries[q + 1]):
            b0, b1 = starts[b] - begin, starts[b + 1] - begin
            for later in range(b, blocks.queries[q + 1]):
                l0, l1 = starts[later] - begin, starts[later + 1] - begin
                v = block_weight(weights, starts, q, b, later)
                if v == 0.0:
                    continue
                force[b0:b1] = 0.0
                force[l0:l1] = 0.0
                if near:
                    cost = _near(u, b0, b1, l0, l1, levels, product, force)
                else:
                    cost = _far(s, gamma, b0, b1, l0, l1, levels, force)
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
def _exponentials(s: np.ndarray, m: int, gamma: float, u: np.ndarray) -> bool:
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
def _near(
    u: np.ndarray,
    b0: int,
    b1: int,
    l0: int,
    l1: int,
    levels: int,
    product: np.ndarray,
    force: np.ndarray,
) -> float:
    """Sum log Z_ij of the pairs of two blocks, or of one with itself; add d log Z / dt to force."""
    cost = 0.0
    for start in range(b0, b1, ROWS):
        begin = start + 1 if l0 == b0 else l0  # of a block with itself, the pairs behind only
        product[begin:l1] = 1.0
        for i in range(start, min(start + ROWS, b1)):
            first = i + 1 if l0 == b0 else l0
            force[i] += _row(
                u[:, i], u[:, first:l1], float(levels), product[first:l1], force[first:l1]
            )
        for j in range(begin, l1):
            cost += np.log(product[j])
    return cost


@kernel(reorder=True)
def _row(
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
def _far(
    s: np.ndarray,
    gamma: float,
    b0: int,
    b1: int,
    l0: int,
    l1: int,
    levels: int,
    force: np.ndarray,
) -> float:
    """Do as `_near` from the scores, with an exponential and a logarithm a pair."""
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
