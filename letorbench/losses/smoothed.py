"""1 - a ranking measure, made smooth by smoothed places or by a smoothed sort.

The smoothed places are pi_i = 1 + sum over j != i of sigma(s_j - s_i): T. Tran, D. Phung, S.
Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 6 and 7 with Table 1's
measures of the whole list,

    NDCG: sum_i w_i / log2(1 + pi_i), w = G / Z,
    MRR:  sum_i w_i / pi_i, w = 1 / n for the n best documents, else 0,
    ERR:  sum_i (w_i / pi_i) prod over j != i of (1 - w_j sigma(s_j - s_i)), w = R < 1.

NeuralNDCG (P. Pobrotyn, R. Bialobrzeski, "NeuralNDCG: Direct Optimisation of a Ranking Metric via
Differentiable Relaxation of Sorting", 2021) relaxes the matrix that sorts m documents by falling
score as in NeuralSort (A. Grover et al., ICLR 2019): row i, from 1, is

    P_i = softmax(((m + 1 - 2i) s - B) / tau),  B_j = sum_k |s_j - s_k|,

the rows and columns of P are scaled in turn until all sum to 1 (Sinkhorn), and the loss is

    1 - 1/Z sum_i D(i) (P G)_i.

The scaling is stored as factors u of the rows and v of the columns; the gradient goes back through
them step by step. A query without relevant documents has no loss.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.arithmetic import add, dot, exp
from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.threads import run_tasks
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.gains import (
    SPAN,
    gain_rule,
    normalized_gains,
    query_maxima,
    truncated_discount,
)
from letorbench.losses.label_order import normalized_label_gain
from letorbench.losses.logistic import best_documents
from letorbench.parameters import number, one_of

MEASURES = ("ndcg", "err", "mrr")
NDCG, ERR, MRR = range(3)
#: no useful scores are further apart than SPAN times 2 to this power
MOST_DOUBLINGS = 40


@dataclass(frozen=True)
class SmoothedMeasure(Loss):
    """1 - a measure of smoothed places.

    With "ndcg" this is ApproxNDCG (T. Qin, T.-Y. Liu, H. Li, "A General Approximation Framework for
    Direct Optimization of Information Retrieval Measures", Information Retrieval 13, 2010,
    equations 9 and 16). MRR is of the best document; of several, the mean of their reciprocal
    places.
    """

    name = "smooth"
    one_minimum = False
    formula = "1 - measure of the places pi_i = 1 + sum_j sigma(alpha (s_j - s_i))"

    measure: str = one_of(MEASURES, "ndcg")
    alpha: float = number(1.0, above=0)  # the larger, the nearer are places to ranks; the paper's 1
    gain: str = gain_rule()

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        weights, kind = self.weights(queries), MEASURES.index(self.measure)
        arguments = _smoothed, queries, self.alpha * scores, queries.offsets, kind, weights
        value, slope = in_query_slices(*arguments, documents=500, of_pairs=True)
        relevant = query_maxima(weights, queries) > 0.0
        return ValueAndGradient(np.where(relevant, 1.0 - value, 0.0), -self.alpha * slope)

    def weights(self, queries: QuerySet) -> np.ndarray:
        if self.measure == "ndcg":
            return normalized_gains(queries, gain=self.gain)
        if self.measure == "err":
            return normalized_label_gain(queries.labels, self.gain, queries)
        return best_documents(queries)


@kernel(reorder=True)
def _smoothed(
    scores: np.ndarray, offsets: np.ndarray, kind: int, weights: np.ndarray, start: int, stop: int,
    out: ValueAndGradient,
) -> None:  # fmt: skip
    """Fill out with M and dM/ds of the queries start..stop - 1; weights: w above."""
    most = longest_query(offsets, start, stop)
    place, passed, u, above = np.empty(most), np.empty(most), np.empty(most), np.empty(most)
    by_place, by_pass = np.empty(most), np.zeros(most)
    for q in range(start, stop):
        first, last = offsets[q], offsets[q + 1]
        m = last - first
        w, g = weights[first:last], out.gradient[first:last]
        s, doublings, unit = scores[first:last], 0, 1.0
        top, bottom = -np.inf, np.inf
        for i in range(m):
            top, bottom = max(top, s[i]), min(bottom, s[i])
        while top - bottom > SPAN * unit and doublings < MOST_DOUBLINGS:
            doublings, unit = doublings + 1, 2.0 * unit
        for i in range(m):
            u[i] = np.exp((s[i] - top) / unit)
        place[:m] = 1.0
        passed[:m] = 1.0
        g[:] = 0.0
        for i in range(m):
            _sigmas(u, i, doublings, above)
            sum_above, product = 0.0, 1.0
            for j in range(i):
                sum_above += above[j]
                place[j] += 1.0 - above[j]
            if kind == ERR:
                for j in range(i):
                    product *= 1.0 - w[j] * above[j]
                    passed[j] *= 1.0 - w[i] * (1.0 - above[j])
            place[i] += sum_above
            passed[i] *= product
        total = 0.0
        for i in range(m):
            if kind == NDCG:
                log = np.log2(1.0 + place[i])
                total += w[i] / log
                by_place[i] = -w[i] / (np.log(2.0) * (1.0 + place[i]) * log * log)
            else:
                term = w[i] * passed[i] / place[i]
                total += term
                by_place[i] = -term / place[i]
                by_pass[i] = term if kind == ERR else 0.0
        out.value[q] = total
        for i in range(m):
            _sigmas(u, i, doublings, above)
            # the effect of raising s_j over s_i on the places and the products of both
            down = 0.0
            for j in range(i):
                pull = above[j] * (1.0 - above[j]) * (by_place[i] - by_place[j])
                g[j] += pull
                down += pull
            if kind == ERR:
                for j in range(i):
                    over, under = above[j], 1.0 - above[j]
                    one = by_pass[j] * w[i] / (1.0 - w[i] * under)
                    pull = over * under * (one - by_pass[i] * w[j] / (1.0 - w[j] * over))
                    g[j] += pull
                    down += pull
            g[i] -= down


@kernel()
def _sigmas(u: np.ndarray, i: int, doublings: int, above: np.ndarray) -> None:
    """above[j] = sigma(s_j - s_i) of each j < i, u = e^(s / 2^doublings): this vectorises."""
    if doublings == 0:
        for j in range(i):
            above[j] = u[j] / (u[i] + u[j])
    else:
        for j in range(i):
            above[j] = u[i] / u[j]
        for _ in range(doublings):
            for j in range(i):
                above[j] *= above[j]
        for j in range(i):
            above[j] = 1.0 / (1.0 + above[j])


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

        def part(chosen: np.ndarray, m: int) -> None:
            rows = queries.offsets[chosen, None] + np.arange(m)
            value, slope = smooth_ndcg(scores[rows] / self.tau, g[rows], D[:m], self.scalings)
            loss.value[chosen], loss.gradient[rows] = 1.0 - value, -slope / self.tau

        tasks = []
        for m in np.unique(queries.lengths[relevant]).tolist():
            alike = np.flatnonzero(relevant & (queries.lengths == m))
            parts = np.array_split(alike, -(-len(alike) * m**2 // TOGETHER))
            tasks += [partial(part, chosen, m) for chosen in parts]
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
    P: np.ndarray, u: np.ndarray, v: np.ndarray, by_u: np.ndarray, by_v: np.ndarray,
    by_P: np.ndarray,
) -> None:  # fmt: skip
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
