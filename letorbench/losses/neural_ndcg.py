"""NeuralNDCG: NDCG of a smooth sort.

P. Pobrotyn, R. Bialobrzeski, "NeuralNDCG: Direct Optimisation of a Ranking Metric via
Differentiable Relaxation of Sorting", 2021. The matrix that sorts m documents by falling score is
relaxed as NeuralSort does (A. Grover et al., ICLR 2019): row i, from 1, is

    P_i = softmax(((m + 1 - 2i) s - B) / tau),  B_j = sum_k |s_j - s_k|,

the rows and columns of P are scaled in turn until all sum to 1 (Sinkhorn), and the loss is

    1 - 1/Z sum_i D(i) (P G)_i.

The scaling is kept as the factors u of the rows and v of the columns; the gradient goes back
through them step by step.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.arithmetic import add, dot, exp
from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel
from letorbench.losses.base import Loss, ValueAndGradient, require_comparable
from letorbench.losses.gains import gain_rule, normalized_gains, query_maxima, truncated_discount
from letorbench.parameters import number
from letorbench.threads import run_tasks

#: numbers of the matrices that are computed together, which fit into the second cache
TOGETHER = 30_000


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
    one_minimum = False
    formula = "1 - 1/Z sum_i D(i) (P G)_i, P the smooth sort by the scores"

    tau: float = number(1.0, above=0)
    scalings: int = number(30, least=0, most=1000)
    gain: str = gain_rule()

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        require_comparable(queries)
        g, D = normalized_gains(queries, gain=self.gain), truncated_discount(queries)
        relevant = query_maxima(g, queries) > 0.0
        loss = ValueAndGradient(np.zeros(queries.n_queries), np.zeros(queries.n_docs))

        def part(own: np.ndarray, m: int) -> None:
            rows = queries.offsets[own, None] + np.arange(m)
            value, slope = smooth_ndcg(scores[rows] / self.tau, g[rows], D[:m], self.scalings)
            loss.value[own], loss.gradient[rows] = 1.0 - value, -slope / self.tau

        tasks = []
        for m in np.unique(queries.lengths[relevant]).tolist():
            alike = np.flatnonzero(relevant & (queries.lengths == m))
            parts = np.array_split(alike, -(-len(alike) * m**2 // TOGETHER))
            tasks += [partial(part, own, m) for own in parts]
        run_tasks(tasks)
        return loss


def smooth_ndcg(
    s: np.ndarray, g: np.ndarray, D: np.ndarray, scalings: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return NDCG of the smooth sorts of n queries of m documents, (n,), and its gradient by s.

    s, g (n, m) are the scores in units of tau and G / Z; D (m,) are the discounts of the ranks.
    """
    n, m = s.shape
    slope, apart = m + 1.0 - 2.0 * np.arange(1, m + 1), s[:, :, None] - s[:, None]
    logits = slope[:, None] * s[:, None] - np.abs(apart).sum(axis=2)[:, None]
    P = exp(logits - logits.max(axis=2, keepdims=True))
    P /= P.sum(axis=2, keepdims=True)
    u, v = np.ones((2, scalings + 1, n, m, 1))  # after t scalings it is diag(u[t]) P diag(v[t])
    for t in range(1, scalings + 1):
        v[t] = 1.0 / _columns(P, u[t - 1])
        u[t] = 1.0 / _rows(P, v[t])
    by_scaled = D[:, None] * g[:, None]
    terms = by_scaled * P
    by_u, by_v = _rows(terms, v[-1]), _columns(terms, u[-1])
    value = (u[-1] * by_u).sum(axis=(1, 2))
    by_P = by_scaled * u[-1] * v[-1].swapaxes(1, 2)
    by_row, by_column = np.zeros((2, scalings + 1, n, m, 1))  # by 1 / u[t] and 1 / v[t]
    for t in range(scalings, 0, -1):
        by_row[t] = -by_u * u[t] * u[t]
        by_column[t] = -v[t] * v[t] * (by_v + _columns(P, by_row[t]))
        by_u, by_v = _rows(P, by_column[t]), np.zeros((n, m, 1))
    _add_outer(by_row[1:], v[1:], by_P)
    _add_outer(u[:-1], by_column[1:], by_P)
    by_logit = P * (by_P - (P * by_P).sum(axis=2, keepdims=True))
    by_B = -by_logit.sum(axis=1)
    sign = np.sign(apart) * (by_B[:, :, None] + by_B[:, None])
    return value, (slope[:, None] * by_logit).sum(axis=1) + sign.sum(axis=2)


# The products of the matrices A (n, m, m) with vectors x (n, m, 1), summed in one order on every
# processor.


@kernel(reorder=True)
def _rows(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A x."""
    out = np.empty(x.shape)
    for q in range(len(A)):
        for i in range(A.shape[1]):
            out[q, i, 0] = dot(A[q, i], x[q].ravel())
    return out


@kernel()
def _columns(A: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Return A' x."""
    out = np.zeros(x.shape)
    for q in range(len(A)):
        for i in range(A.shape[1]):
            add(x[q, i, 0], A[q, i], out[q].ravel())
    return out


@kernel()
def _add_outer(x: np.ndarray, y: np.ndarray, A: np.ndarray) -> None:
    """A += the sum over t of x y', for x and y (t, n, m, 1)."""
    for q in range(len(A)):
        for i in range(A.shape[1]):
            for t in range(len(x)):
                add(x[t, q, i, 0], y[t, q].ravel(), A[q, i])
