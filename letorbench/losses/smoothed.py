"""1 - a ranking measure of smoothed places pi_i = 1 + sum over j != i of sigma(s_j - s_i).

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 6
and 7 with Table 1's measures of the whole list. Every "is above" in a measure's definition becomes
a sigma, also in ERR's product. A query without relevant documents has no loss.

`reference` computes the measures for one query in plain NumPy, as the compiled kernel below does.
"""

from dataclasses import dataclass

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.compiled.query_loops import SPAN
from letorbench.conventions import gains
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices, require_comparable
from letorbench.losses.gains import gain_rule, normalized_gains, query_maxima
from letorbench.losses.logistic import best_documents
from letorbench.parameters import number, one_of

MEASURES = ("ndcg", "err", "mrr")
NDCG, ERR, MRR = range(3)
#: no useful scores are further apart than SPAN times 2 to this power
MOST_DOUBLINGS = 40


def reference(s: np.ndarray, w: np.ndarray, kind: int) -> tuple[float, np.ndarray]:
    """Return the measure M of one query and dM/ds.

    NDCG: sum_i w_i / log2(1 + pi_i), w = G / Z.
    MRR:  sum_i w_i / pi_i, w = 1 / n for the n best documents, else 0.
    ERR:  sum_i (w_i / pi_i) prod over j != i of (1 - w_j sigma(s_j - s_i)), w = R < 1.
    """
    above = np.exp(-np.logaddexp(0.0, s[:, None] - s[None, :]))  # [i, j]: sigma(s_j - s_i)
    np.fill_diagonal(above, 0.0)
    bend = above * (1.0 - above)  # sigma's derivative
    pi = 1.0 + above.sum(axis=1)
    by_above = np.zeros_like(above)  # dM / d above[i, j], except through pi
    if kind == NDCG:
        terms = w / np.log2(1.0 + pi)
        by_pi = -terms / ((1.0 + pi) * np.log(1.0 + pi))
    else:
        passed = np.prod(1.0 - w[None, :] * above, axis=1) if kind == ERR else 1.0
        terms = w * passed / pi
        by_pi = -terms / pi
        if kind == ERR:
            by_above = -terms[:, None] * w[None, :] / (1.0 - w[None, :] * above)
    slope = (by_pi[:, None] + by_above) * bend
    return float(terms.sum()), slope.sum(axis=0) - slope.sum(axis=1)


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
        require_comparable(queries)
        weights, kind = self.weights(queries), MEASURES.index(self.measure)
        arguments = _smoothed, queries, self.alpha * scores, queries.offsets, kind, weights
        value, slope = in_query_slices(*arguments, documents=500, cost=queries.lengths**2)
        relevant = query_maxima(weights, queries) > 0.0
        return ValueAndGradient(np.where(relevant, 1.0 - value, 0.0), -self.alpha * slope)

    def weights(self, queries: QuerySet) -> np.ndarray:
        if self.measure == "ndcg":
            return normalized_gains(queries, gain=self.gain)
        if self.measure == "err":
            G = gains(queries.labels, self.gain)
            return G / (1.0 + G.max(initial=0.0))  # R, (2^r - 1) / 2^(the set's largest label)
        return best_documents(queries)


@kernel(reorder=True)
def _smoothed(
    scores: np.ndarray,
    offsets: np.ndarray,
    kind: int,
    weights: np.ndarray,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with M and dM/ds of the queries start..stop - 1; weights: w of `reference`."""
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
