"""NeuralNDCG: NDCG of a smooth sort.

P. Pobrotyn, R. Bialobrzeski, "NeuralNDCG: Direct Optimisation of a Ranking Metric via
Differentiable Relaxation of Sorting", 2021. The matrix that sorts m documents by falling score is
relaxed as NeuralSort does (A. Grover et al., ICLR 2019): row i, from 1, is

    P_i = softmax(((m + 1 - 2i) s - B) / tau),  B_j = sum_k |s_j - s_k|,

the rows and columns of P are scaled in turn until all sum to 1 (Sinkhorn), and the loss is

    1 - 1/Z sum_i D(i) (P G)_i.

`reference` computes this in NumPy. The kernel keeps the scaling as the factors u of the rows and v
of the columns, and goes back through them step by step for the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.gains import normalized_gains, query_maxima, truncated_discount


def reference(s: np.ndarray, g: np.ndarray, tau: float, scalings: int) -> float:
    """Return NeuralNDCG of one query; s, g (m,) are the scores and G / Z."""
    m = len(s)
    B = np.abs(s[:, None] - s).sum(axis=1)
    logits = (np.outer(m + 1 - 2 * np.arange(1, m + 1), s) - B) / tau
    P = np.exp(logits - logits.max(axis=1, keepdims=True))
    P /= P.sum(axis=1, keepdims=True)
    for _ in range(scalings):
        P = P / P.sum(axis=0)
        P = P / P.sum(axis=1, keepdims=True)
    return float((1.0 / np.log2(2.0 + np.arange(m))) @ P @ g)


@dataclass(frozen=True)
class NeuralNDCG(Loss):
    """1 - NDCG of documents sorted by NeuralSort's relaxation.

    A query without relevant documents has no loss.

    Parameters
    ----------
    tau : float
        The temperature: the lower, the nearer is the sort to the true one.
    scalings : int
        How often columns and rows are scaled to sum to 1; the paper ends after 30 at most.
    """

    name = "neural-ndcg"
    formula = "1 - 1/Z sum_i D(i) (P G)_i, P the smooth sort by the scores"

    tau: float = 1.0
    scalings: int = 30

    def __post_init__(self) -> None:
        if not 0.0 < self.tau < np.inf:
            raise UsageError(f"{self.name}: found tau={self.tau}, expected more than 0")
        if not 0 <= self.scalings <= 1000:
            raise UsageError(f"{self.name}: found scalings={self.scalings}, expected 0 to 1000")

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        require_comparable(queries)
        value, slope = in_query_slices(
            _neural_ndcg, queries, scores / self.tau, queries.offsets, normalized_gains(queries),
            truncated_discount(queries), self.scalings, documents=100, cost=queries.lengths**2,
        )  # fmt: skip
        relevant = query_maxima(queries.labels.astype(np.float64), queries) > 0.0
        return ValueAndGradient(np.where(relevant, 1.0 - value, 0.0), -slope / self.tau)


@kernel()
def _neural_ndcg(
    scores: np.ndarray,
    offsets: np.ndarray,
    gains: np.ndarray,
    D: np.ndarray,
    scalings: int,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with NDCG and its gradient for the queries start..stop - 1."""
    longest = longest_query(offsets, start, stop)
    # after t scalings P is diag(u[t]) P diag(v[t])
    u, v = np.ones((2, scalings + 1, longest))
    for q in range(start, stop):
        begin, end = offsets[q], offsets[q + 1]
        s, g, gradient, m = (
            scores[begin:end],
            gains[begin:end],
            out.gradient[begin:end],
            end - begin,
        )
        P = _neural_sort(s)
        for t in range(scalings):
            for j in range(m):
                v[t + 1, j] = 0.0
            for i in range(m):
                for j in range(m):
                    v[t + 1, j] += P[i, j] * u[t, i]
            for j in range(m):
                v[t + 1, j] = 1.0 / v[t + 1, j]
            for i in range(m):
                total = 0.0
                for j in range(m):
                    total += P[i, j] * v[t + 1, j]
                u[t + 1, i] = 1.0 / total
        by_P, by_u, by_v = np.zeros((m, m)), np.zeros(m), np.zeros(m)
        value = 0.0
        for i in range(m):
            for j in range(m):
                term = D[i] * P[i, j] * g[j]
                value += u[scalings, i] * term * v[scalings, j]
                by_P[i, j] = D[i] * u[scalings, i] * g[j] * v[scalings, j]
                by_u[i] += term * v[scalings, j]
                by_v[j] += term * u[scalings, i]
        out.value[q] = value
        for t in range(scalings, 0, -1):
            for i in range(m):  # u[t] = 1 / (P v[t])
                c = -by_u[i] * u[t, i] * u[t, i]
                by_u[i] = 0.0
                for j in range(m):
                    by_P[i, j] += c * v[t, j]
                    by_v[j] += c * P[i, j]
            for j in range(m):  # v[t] = 1 / (P' u[t - 1])
                by_v[j] *= -v[t, j] * v[t, j]
            for i in range(m):
                for j in range(m):
                    by_P[i, j] += by_v[j] * u[t - 1, i]
                    by_u[i] += by_v[j] * P[i, j]
            by_v[:] = 0.0
        _back_through_the_sort(s, P, by_P, gradient)


@kernel()
def _neural_sort(s: np.ndarray) -> np.ndarray:
    """Return P (m, m) of scores in units of tau."""
    m = len(s)
    P, B = np.empty((m, m)), np.zeros(m)
    for j in range(m):
        for k in range(m):
            B[j] += abs(s[j] - s[k])
    for i in range(m):
        top, total = -np.inf, 0.0
        for j in range(m):
            P[i, j] = (m - 1.0 - 2.0 * i) * s[j] - B[j]
            top = max(top, P[i, j])
        for j in range(m):
            P[i, j] = np.exp(P[i, j] - top)
            total += P[i, j]
        for j in range(m):
            P[i, j] /= total
    return P


@kernel()
def _back_through_the_sort(
    s: np.ndarray, P: np.ndarray, by_P: np.ndarray, gradient: np.ndarray
) -> None:
    """Fill the gradient by s from that by P."""
    m = len(s)
    by_B = np.zeros(m)
    gradient[:] = 0.0
    for i in range(m):
        mean = 0.0
        for j in range(m):
            mean += P[i, j] * by_P[i, j]
        for j in range(m):
            by_logit = P[i, j] * (by_P[i, j] - mean)
            gradient[j] += (m - 1.0 - 2.0 * i) * by_logit
            by_B[j] -= by_logit
    for j in range(m):
        for k in range(m):
            if s[j] != s[k]:
                gradient[j] += (by_B[j] + by_B[k]) * (1.0 if s[j] > s[k] else -1.0)
