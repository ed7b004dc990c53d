"""Weighted losses of pairs, and the pairwise bound of a Markov random field.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: equation
9 with Table 3's losses phi and Table 9's weights V,

    sum over the pairs r_i > r_j of V_ij phi(s_i - s_j),

and equation 18, -sum over all pairs of V_ij log(psi(r_i, r_j) / Z_ij) with
psi(r_i, r_j) = exp(gamma sign(r_i - r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)), and Z_ij the sum
of psi over all pairs of labels.

`reference` computes both for one query in plain NumPy, as the compiled kernel below does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.jit import kernel
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.label_order import (
    PAIR_WEIGHTS,
    PairWeight,
    PairWeights,
    label_count,
)
from letorbench.losses.weighted_field import weighted_field
from letorbench.losses.weighted_logistic import weighted_logistic

PairLossName = Literal["quadratic", "hinge", "exponential", "logistic"]
QUADRATIC, HINGE, EXPONENTIAL, LOGISTIC, FIELD = range(5)
#: from here on, e^t is continued by its tangent, so that it stays finite
STEEPEST = 30.0


@dataclass(frozen=True)
class PairLoss:
    """A loss phi of Table 3: of d = s_i - s_j of a pair with r_i > r_j.

    Parameters
    ----------
    name : PairLossName
    kind : int
        What the compiled kernel calls it.
    formula : str
    """

    name: PairLossName
    kind: int
    formula: str

    def __str__(self) -> str:
        return self.name


#: Table 3
PAIR_LOSSES: dict[str, PairLoss] = {
    phi.name: phi
    for phi in (
        PairLoss("quadratic", QUADRATIC, "(1 - d)^2"),
        PairLoss("hinge", HINGE, "max(0, 1 - d)"),
        PairLoss("exponential", EXPONENTIAL, "exp(-d)"),
        PairLoss("logistic", LOGISTIC, "log(1 + exp(-d))"),
    )
}


def reference(
    s: np.ndarray, r: np.ndarray, V: np.ndarray, kind: int, levels: int
) -> tuple[float, np.ndarray]:
    """Return the loss of one query and its gradient.

    s, r (m,) are the scores and labels in label order, V (m, m) the weights of the pairs (i, j)
    with i before j, and levels is L, the number of labels.
    """
    m = len(s)
    i, j = np.triu_indices(m, 1)
    sign = (r[i] > r[j]).astype(float)
    d = s[i] - s[j]
    if kind == FIELD:
        gamma = 2.0 / (m * (m - 1.0)) if m > 1 else 0.0
        counts = {1: levels * (levels - 1) / 2, -1: levels * (levels - 1) / 2, 0: levels}
        terms = [np.log(n) + a * gamma * d for a, n in counts.items() if n]  # Z_ij's
        log_z = np.logaddexp.reduce(terms, axis=0)
        expected_sign = sum(
            a * np.exp(term - log_z) for a, term in zip((1, -1), terms, strict=False)
        )
        loss, slope = log_z - sign * gamma * d, gamma * (expected_sign - sign)
    else:
        bounded = np.minimum(-d, STEEPEST)
        e = np.exp(bounded)
        loss, slope = {
            QUADRATIC: ((1.0 - d) ** 2, -2.0 * (1.0 - d)),
            HINGE: (np.maximum(0.0, 1.0 - d), np.where(d < 1.0, -1.0, 0.0)),
            EXPONENTIAL: (e * (1.0 - d - bounded), -e),
            LOGISTIC: (np.logaddexp(0.0, -d), -np.exp(-np.logaddexp(0.0, d))),
        }[kind]
        loss, slope = sign * loss, sign * slope  # only the pairs r_i > r_j
    weight = V[i, j]
    gradient = np.bincount(i, weight * slope, m) - np.bincount(j, weight * slope, m)
    return float(weight @ loss), gradient


def summed(
    kind: int, weight: PairWeight, shared: bool, scores: np.ndarray, queries: QuerySet
) -> ValueAndGradient:
    """Return equation 9 with that kind of loss, or equation 18 for the kind FIELD.

    shared: see `PairWeight.of`.
    """
    weights, levels = weight.of(queries, shared), label_count(queries)
    arguments = queries, scores, queries.by_label, weights
    if kind == LOGISTIC and (shared or not weight.places):
        return in_query_slices(weighted_logistic, *arguments, documents=1_000)
    require_comparable(queries)
    if kind == FIELD and (shared or not weight.places):
        return in_query_slices(weighted_field, *arguments, levels, documents=1_000)
    cost = queries.lengths**2
    return in_query_slices(_weighted_pairs, *arguments, kind, levels, documents=1_000, cost=cost)


LOSSES = (
    *(
        Loss(
            f"pairwise-{phi}-{weight}",
            f"sum over pairs r_i > r_j of {weight} {phi.formula}, d = s_i - s_j",
            partial(summed, phi.kind, weight, True),
            exponential=phi.kind == EXPONENTIAL,
            in_file_order=partial(summed, phi.kind, weight, False) if weight.places else None,
        )
        for weight in PAIR_WEIGHTS.values()
        for phi in PAIR_LOSSES.values()
    ),
    *(
        Loss(
            f"wub-{weight}",
            f"-sum over pairs of {weight} log (psi / Z_ij), "
            "psi = exp(gamma sign(r_i - r_j) (s_i - s_j))",
            partial(summed, FIELD, weight, True),
            in_file_order=partial(summed, FIELD, weight, False) if weight.places else None,
        )
        for weight in PAIR_WEIGHTS.values()
    ),
)


@kernel()
def _weighted_pairs(
    scores: np.ndarray,
    blocks: LabelBlocks,
    weights: PairWeights,
    kind: int,
    levels: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with sum of V_ij phi(s_i - s_j) over the pairs r_i > r_j; FIELD: over ties too."""
    order, starts, gradient = blocks.order, blocks.starts, out.gradient
    by_label, by_place = weights.by_label, weights.by_place
    for q in range(start, stop):
        begin, end, last = blocks.offsets[q], blocks.offsets[q + 1], blocks.queries[q + 1]
        m = end - begin
        gamma = 2.0 / (m * (m - 1.0)) if m > 1 else 0.0
        total = 0.0
        for p in range(begin, end):
            gradient[order[p]] = 0.0
        for b in range(blocks.queries[q], last):
            for p in range(starts[b], starts[b + 1]):
                i = order[p]
                mine = 0.0
                for later in range(b, last):
                    if later == b and (kind != FIELD or by_label or by_place):
                        continue  # a tie has no order, and weights of differences are 0
                    v = weights.c[q] * (weights.a[b] - weights.a[later] if by_label else 1.0)
                    sign = 0.0 if later == b else 1.0
                    for r in range(p + 1 if later == b else starts[later], starts[later + 1]):
                        j = order[r]
                        d = scores[i] - scores[j]
                        if kind == FIELD:
                            loss, slope = _field_loss(d, sign, gamma, float(levels))
                        else:
                            loss, slope = _pair_loss(kind, d)
                        w = v * (weights.e[p] - weights.e[r]) if by_place else v
                        total += w * loss
                        mine += w * slope
                        gradient[j] -= w * slope
                gradient[i] += mine
        out.value[q] = total


@kernel()
def _pair_loss(kind: int, d: float) -> tuple[float, float]:
    """Return phi(d) and its derivative, d = s_i - s_j of a pair r_i > r_j."""
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
def _field_loss(d: float, sign: float, gamma: float, levels: float) -> tuple[float, float]:
    """Return -log(psi / Z_ij) and its derivative by d = s_i - s_j.

    psi = exp(gamma sign d), Z_ij = levels + levels (levels - 1) cosh(gamma d).
    """
    t = gamma * d
    e = np.exp(-abs(t))
    pairs = 0.5 * levels * (levels - 1.0)
    z = pairs * (1.0 + e * e) + levels * e  # Z_ij e^{-|t|}
    slope = pairs * (1.0 - e * e) / z * (1.0 if t > 0.0 else -1.0)
    return abs(t) + np.log(z) - sign * t, gamma * (slope - sign)
