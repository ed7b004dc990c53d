"""NeuralNDCG: NDCG of a smooth sort.

P. Pobrotyn, R. Bialobrzeski, "NeuralNDCG: Direct Optimisation of a Ranking Metric via
Differentiable Relaxation of Sorting", 2021. The matrix that sorts m documents by falling score is
relaxed as in NeuralSort (A. Grover et al., ICLR 2019): row i, from 1, is

    P_i = softmax(((m + 1 - 2i) s - B) / tau),  B_j = sum_k |s_j - s_k|,

the rows and columns of P are scaled in turn until all sum to 1 (Sinkhorn), and the loss is

    1 - 1/Z sum_i D(i) (P G)_i.

The scaling is stored as factors u of the rows and v of the columns; the gradient goes back through
them step by step.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.arithmetic import add, dot, exp
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import run_tasks
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient, require_comparable
from letorbench.losses.gains import gain_rule, normalized_gains, query_maxima, truncated_discount
from letorbench.parameters import number

#: the size of the matrices that are computed together, which fit into the second cache
TOGETHER = 30_000


@dataclass(frozen=True)
class NeuralNDCG(Loss):
    """1 - NDCG of documents sorted by NeuralSort's relaxation, 0 without relevant documents."""

    name = "neural-ndcg"
    one_minimum = False
    formula = "1 - 1/Z sum_i D(i) (P G)_i, P the smooth sort by the scores"

    tau: float = number(1.0, above=0)  # the lower, the nearer is the sort to the true one
    scalings: int = number(30, least=0, most=1000)  # of columns and rows; the paper has at most 30
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
    """Return NDCG of the smooth sorts of n queries of m documents, (n,), and its gradient by s."""
    n, m = s.shape  # as of g = G / Z; s is in units of tau, D has the discounts of the ranks
    slope, apart = m + 1.0 - 2.0 * np.arange(1, m + 1), s[:, :, None] - s[:, None]
    logits = slope[:, None] * s[:, None] - np.abs(apart).sum(axis=2)[:, None]
    P = exp(logits - logits.max(axis=2, keepdims=True))
    P /= P.sum(axis=2, keepdims=True)
    u, v = np.ones((2, n, scalings + 1, m))  # after t scalings it is diag(u_t) P diag(v_t)
    _scale(P, u, v)
    last_u, last_v = u[:, -1, :, None], v[:, -1, None]
    by_scaled = D[:, None] * g[:, None]
    terms = by_scaled * P
    by_u, by_v = (terms * last_v).sum(axis=2), (terms * last_u).sum(axis=1)
    value = (u[:, -1] * by_u).sum(axis=1)
    by_P = by_scaled * last_u * last_v
    _go_back(P, u, v, by_u, by_v, by_P)
    by_logit = P * (by_P - (P * by_P).sum(axis=2, keepdims=True))
    by_B = -by_logit.sum(axis=1)
    sign = np.sign(apart) * (by_B[:, :, None] + by_B[:, None])
    return value, (slope[:, None] * by_logit).sum(axis=1) + sign.sum(axis=2)


# The scalings of n matrices P (n, m, m), with sums in one order on every processor.


@kernel()
def _scale(P: np.ndarray, u: np.ndarray, v: np.ndarray) -> None:
    """Fill in the factors u and v (n, scalings + 1, m); the first are 1."""
    for q in range(len(P)):
        for t in range(1, u.shape[1]):
            v[q, t] = 0.0
            _add_columns(P[q], u[q, t - 1], v[q, t])
            v[q, t] = 1.0 / v[q, t]
            _rows(P[q], v[q, t], u[q, t])
            u[q, t] = 1.0 / u[q, t]


@kernel()
def _go_back(
    P: np.ndarray,
    u: np.ndarray,
    v: np.ndarray,
    by_u: np.ndarray,
    by_v: np.ndarray,
    by_P: np.ndarray,
) -> None:
    """Add to the derivative by P its part through the scalings; this overwrites by_u and by_v."""
    scalings, m = u.shape[1] - 1, u.shape[2]
    by_row, by_column = np.empty((scalings, m)), np.empty((scalings, m))  # by 1 / u and 1 / v
    for q in range(len(P)):
        for t in range(scalings, 0, -1):
            by_row[t - 1] = -by_u[q] * u[q, t] * u[q, t]
            _add_columns(P[q], by_row[t - 1], by_v[q])
            by_column[t - 1] = -by_v[q] * v[q, t] * v[q, t]
            by_v[q] = 0.0
            _rows(P[q], by_column[t - 1], by_u[q])
        for i in range(m):
            _add_columns(v[q, 1:], by_row[:, i], by_P[q, i])
            _add_columns(by_column, u[q, :-1, i], by_P[q, i])


@kernel()
def _rows(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out = A x, for A (m, m)."""
    for i in range(len(out)):
        out[i] = dot(A[i], x)


@kernel()
def _add_columns(A: np.ndarray, x: np.ndarray, out: np.ndarray) -> None:
    """out += A' x, for A (k, m)."""
    k = len(A)
    for i in range(0, k - k % 4, 4):
        a, b, c, d = A[i], A[i + 1], A[i + 2], A[i + 3]
        for j in range(len(out)):
            out[j] += (a[j] * x[i] + b[j] * x[i + 1]) + (c[j] * x[i + 2] + d[j] * x[i + 3])
    for i in range(k - k % 4, k):
        add(x[i], A[i], out)
