"""Weighted losses of every pair of a query, pair by pair.

V_ij = c_q (a_i - a_j or 1) (e_i - e_j or 1), a a value of the label and e one of the place in
label order: all the weights of the functionals paper's Table 9.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

QUADRATIC, HINGE, EXPONENTIAL, LOGISTIC, FIELD = range(5)
#: e^t goes on as its tangent from here, so that it stays finite
STEEPEST = 30.0


@kernel()
def pair_loss(kind: int, d: float) -> tuple[float, float]:
    """phi(d) and its derivative, d = s_i - s_j of a pair r_i > r_j."""
    if kind == QUADRATIC:
        return (1.0 - d) ** 2, -2.0 * (1.0 - d)
    if kind == HINGE:
        return (1.0 - d, -1.0) if d < 1.0 else (0.0, 0.0)
    if kind == EXPONENTIAL:
        t = min(-d, STEEPEST)
        e = np.exp(t)
        return e * (1.0 - d - t), -e
    e = np.exp(-abs(d))
    share = 1.0 / (1.0 + e)  # sigma(|d|)
    return np.log1p(e) + max(-d, 0.0), -(e * share if d > 0.0 else share)


@kernel()
def field_loss(d: float, sign: float, gamma: float, levels: float) -> tuple[float, float]:
    """-log Q(r_i, r_j) and its derivative by d = s_i - s_j, Q = psi / Z_ij.

    psi = exp(gamma sign d), Z_ij = the sum of psi over all pairs of labels
    = levels + levels (levels - 1) cosh(gamma d).
    """
    t = gamma * d
    e = np.exp(-abs(t))
    pairs = 0.5 * levels * (levels - 1.0)
    z = pairs * (1.0 + e * e) + levels * e  # Z_ij e^{-|t|}
    slope = pairs * (1.0 - e * e) / z * (1.0 if t > 0.0 else -1.0)
    return abs(t) + np.log(z) - sign * t, gamma * (slope - sign)


@kernel()
def weighted_pairs(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    offsets: np.ndarray,
    kind: int,
    c: np.ndarray,
    a: np.ndarray,
    e: np.ndarray,
    by_label: bool,
    by_place: bool,
    levels: int,
    start: int,
    stop: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """value[q] = sum of V_ij phi(s_i - s_j) over the pairs r_i > r_j; FIELD: ties too.

    order, starts, queries: the blocks of one label, the highest first (`LabelBlocks`);
    c (n_queries,); a (n_blocks,); e (n_docs,) in the blocks' order.
    """
    for q in range(start, stop):
        m = offsets[q + 1] - offsets[q]
        gamma = 2.0 / (m * (m - 1.0)) if m > 1 else 0.0
        total = 0.0
        for p in range(offsets[q], offsets[q + 1]):
            gradient[order[p]] = 0.0
        for b in range(queries[q], queries[q + 1]):
            for p in range(starts[b], starts[b + 1]):
                i = order[p]
                mine = 0.0
                for later in range(b, queries[q + 1]):
                    if later == b and (kind != FIELD or by_label or by_place):
                        continue  # a tie has no order, and weights of differences are 0
                    v = c[q] * (a[b] - a[later] if by_label else 1.0)
                    sign = 0.0 if later == b else 1.0
                    for r in range(p + 1 if later == b else starts[later], starts[later + 1]):
                        j = order[r]
                        d = scores[i] - scores[j]
                        if kind == FIELD:
                            loss, slope = field_loss(d, sign, gamma, float(levels))
                        else:
                            loss, slope = pair_loss(kind, d)
                        w = v * (e[p] - e[r]) if by_place else v
                        total += w * loss
                        mine += w * slope
                        gradient[j] -= w * slope
                gradient[i] += mine
        value[q] = total
