"""Weighted losses of pairs, and the pairwise bound of a Markov random field.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: equation
9 with Table 3's losses phi and Table 9's weights V,

    sum over the pairs r_i > r_j of V_ij phi(s_i - s_j),

and equation 18, -sum over all pairs of V_ij log(psi(r_i, r_j) / Z_ij) with
psi(r_i, r_j) = exp(gamma sign(r_i - r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)), and Z_ij the sum
of psi over all pairs of labels.

`reference` computes both for one query in plain NumPy; the compiled kernel below goes over pairs
of blocks that have one weight (`WeightedBlocks`).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel
from letorbench.losses.base import ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.label_order import (
    PairWeighted,
    WeightedBlocks,
    block_weight,
    label_count,
)

#: Table 3, with d = s_i - s_j of a pair with r_i > r_j
PAIR_LOSSES = {
    "quadratic": "(1 - d)^2",
    "hinge": "max(0, 1 - d)",
    "exponential": "exp(-d)",
    "logistic": "log(1 + exp(-d))",
}
QUADRATIC, HINGE, EXPONENTIAL, LOGISTIC, FIELD_BOUND = range(5)
#: from here on, e^t is continued by its tangent, so that it stays finite
STEEPEST = 30.0


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


class _OfPairs(PairWeighted):
    """What the losses of pairs have in common."""

    @property
    def kind(self) -> int:
        """The number of the loss of a pair in compiled code."""
        raise NotImplementedError

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        require_comparable(queries)
        blocks = WeightedBlocks.of(self.weight, self.ties, queries)
        arguments = _weighted_pairs, queries, scores, blocks, self.kind, label_count(queries)
        return in_query_slices(*arguments, documents=1_000, cost=queries.lengths**2)


@dataclass(frozen=True)
class PairwiseLoss(_OfPairs):
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

    @property
    def kind(self) -> int:
        return list(PAIR_LOSSES).index(self.phi)


@dataclass(frozen=True)
class FieldBound(_OfPairs):
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
    kind = FIELD_BOUND

    weight: str = "1"
    ties: str = "breslow"


@kernel()
def _weighted_pairs(
    scores: np.ndarray,
    blocks: WeightedBlocks,
    kind: int,
    levels: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with the sum of V_ij times the loss of a pair, over the pairs of each query.

    The field bound has the pairs of equal labels too, the losses of Table 3 have not.
    """
    order, starts, gradient = blocks.order, blocks.starts, out.gradient
    for q in range(start, stop):
        m, last = blocks.offsets[q + 1] - blocks.offsets[q], blocks.queries[q + 1]
        gamma = 2.0 / (m * (m - 1.0)) if kind == FIELD_BOUND and m > 1 else 1.0
        gradient[blocks.offsets[q] : blocks.offsets[q + 1]] = 0.0
        total = 0.0
        for b in range(blocks.queries[q], last):
            for later in range(b if kind == FIELD_BOUND else b + 1, last):
                v = block_weight(blocks, q, b, later)
                if v == 0.0:
                    continue
                for p in range(starts[b], starts[b + 1]):
                    i, mine = order[p], 0.0
                    # of a block with itself, the pairs behind p
                    for r in range(max(p + 1, starts[later]), starts[later + 1]):
                        j = order[r]
                        t = gamma * (scores[i] - scores[j])
                        if kind == FIELD_BOUND:
                            loss, slope = _field_bound(t, levels, later > b)
                        else:
                            loss, slope = _pair_loss(kind, t)
                        total += v * loss
                        mine += slope
                        gradient[j] -= v * gamma * slope
                    gradient[i] += v * gamma * mine
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
    return np.log1p(e) + max(0.0, -d), -(e if d > 0.0 else 1.0) / (1.0 + e)


@kernel()
def _field_bound(t: float, levels: int, ordered: bool) -> tuple[float, float]:
    """Return log Z_ij - sign t and its derivative by t, with Z_ij = n (e^t + e^-t) + L.

    t = gamma (s_i - s_j), L labels, n = L (L - 1) / 2, sign = 1 for r_i > r_j and 0 for a tie.
    """
    n, sign = 0.5 * levels * (levels - 1.0), 1.0 if ordered else 0.0
    e = np.exp(-abs(t))
    z = n * (1.0 + e * e) + levels * e  # Z_ij e^(-|t|)
    slope = n * (1.0 - e * e) / z * (1.0 if t > 0.0 else -1.0)
    return abs(t) + np.log(z) - sign * t, slope - sign
