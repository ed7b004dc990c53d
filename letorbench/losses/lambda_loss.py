"""LambdaLoss: bounds of NDCG's cost by weighted pairs, whose weights follow the ranking.

X. Wang, C. Li, N. Golbandi, M. Bendersky, M. Najork, "The LambdaLoss Framework for Ranking Metric
Optimization", CIKM 2018:

    sum over the pairs r_i > r_j of w_ij log2(1 + exp(-(s_i - s_j))),
    NDCG-Loss1    w_ij = g_i / D_{pi_i}
    NDCG-Loss2    w_ij = (g_i - g_j) delta_ij
    NDCG-Loss2++  w_ij = (g_i - g_j) (rho_ij + mu delta_ij)
    delta_ij = |1 / D_{|pi_i - pi_j|} - 1 / D_{|pi_i - pi_j| + 1}|,
    rho_ij = |1 / D_{pi_i} - 1 / D_{pi_j}|,

with the places pi_i that the scores give, g_i = G_i / Z, and 1 / D_k the discount of place k. For
the gradient the weights are constants (the M-step of the paper's algorithm): the loss jumps where
documents change places. With mu = 0, NDCG-Loss2++ has LambdaRank's forces, in units of ln 2.
Documents of equal scores have the mean weight over all their orders.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.gains import (
    gain_rule,
    mean_difference,
    mean_of_ranks,
    normalized_gains,
    tied_ranks,
)
from letorbench.parameters import number, one_of

BOUNDS = ("ndcg-loss2++", "ndcg-loss2", "ndcg-loss1")
LOSS2PP, LOSS2, LOSS1 = range(3)


@dataclass(frozen=True)
class LambdaLoss(Loss):
    """The bounds of the LambdaLoss framework; mu weighs NDCG-Loss2 within NDCG-Loss2++."""

    name = "lambdaloss"
    one_minimum = False
    formula = "sum over pairs r_i > r_j of w_ij(places) log2(1 + exp(-(s_i - s_j)))"

    bound: str = one_of(BOUNDS, "ndcg-loss2++")
    mu: float = number(10.0, least=0)
    gain: str = gain_rule()

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        ranks = np.arange(1, queries.lengths.max(initial=0) + 2)
        D = standard_discount(ranks)
        # the sums of the sums of delta of places that are 0, 1, ... apart
        sums = np.cumsum(np.cumsum(np.append(0.0, D[:-1] - D[1:])))
        return in_query_slices(
            _lambda_loss, queries, scores, queries.labels, queries.offsets,
            normalized_gains(queries, gain=self.gain), D, sums, BOUNDS.index(self.bound),
            float(self.mu), documents=1_000, of_pairs=True,
        )  # fmt: skip


@kernel()
def _lambda_loss(
    scores: np.ndarray, labels: np.ndarray, offsets: np.ndarray, gains: np.ndarray, D: np.ndarray,
    sums: np.ndarray, bound: int, mu: float, start: int, stop: int, out: ValueAndGradient,
) -> None:  # fmt: skip
    longest = longest_query(offsets, start, stop)
    rank, tied = np.empty(longest, np.int64), np.empty(longest, np.int64)
    discount, apart = np.empty(longest), np.empty(longest)
    for q in range(start, stop):
        begin, end = offsets[q], offsets[q + 1]
        s, r, g = scores[begin:end], labels[begin:end], gains[begin:end]
        gradient, total = out.gradient[begin:end], 0.0
        gradient[:] = 0.0
        tied_ranks(s, rank, tied)
        for i in range(end - begin):
            discount[i] = mean_of_ranks(D, rank[i], tied[i])
            apart[i] = mean_difference(D, rank[i], tied[i], tied[i])
        for i in range(end - begin):
            for j in range(end - begin):
                if r[i] <= r[j]:
                    continue
                w = g[i] * discount[i]
                if bound != LOSS1:
                    w = _mean_delta(sums, rank[i], tied[i], rank[j], tied[j])
                    if bound == LOSS2PP:
                        tie = rank[i] == rank[j]
                        w = mu * w + (apart[i] if tie else abs(discount[i] - discount[j]))
                    w *= g[i] - g[j]
                d = s[i] - s[j]
                e = np.exp(-abs(d))
                total += w * (np.log1p(e) + max(0.0, -d))
                force = w * (e if d > 0.0 else 1.0) / ((1.0 + e) * np.log(2.0))
                gradient[i] -= force
                gradient[j] += force
        out.value[q] = total / np.log(2.0)


@kernel()
def _mean_delta(sums: np.ndarray, a: int, n: int, b: int, m: int) -> float:
    """Return the mean delta of the places a..a + n - 1 and b..b + m - 1, or of two of the same."""
    if a == b:
        return 2.0 * sums[n - 1] / (n * (n - 1.0))
    if a > b:
        a, n, b, m = b, m, a, n
    gap = b - a - n  # places between them
    before = sums[gap - 1] if gap > 0 else 0.0
    total = sums[gap + n + m - 1] - sums[gap + m - 1] - sums[gap + n - 1] + before
    return total / (n * m)
