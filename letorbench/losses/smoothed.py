"""1 - a ranking measure of smoothed places pi_i = 1 + sum over j != i of sigma(s_j - s_i).

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 6 and
7 with Table 1's measures of the whole list; every "above" of a measure's definition is a sigma,
also in ERR's product. A query without relevant documents has no loss.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import smooth_ranks
from letorbench.losses.base import query_share, register
from letorbench.losses.lambdas import inverse_ideal, truncated_discount
from letorbench.losses.multiclass import best
from letorbench.losses.segments import maxima, spread
from letorbench.threads import in_threads


def _smoothed(
    kind: int, worth: np.ndarray, scores: np.ndarray, queries: QuerySet
) -> tuple[np.ndarray, np.ndarray]:
    measure, slope = np.empty(queries.n_queries), np.empty(queries.n_docs)

    def part(start: int, stop: int) -> None:
        smooth_ranks.smooth_measure(
            scores, queries.offsets, kind, worth, start, stop, measure, slope
        )

    in_threads(part, queries.n_queries, query_share(queries, 500), queries.lengths**2)
    relevant = maxima(queries.labels.astype(np.float64), queries) > 0.0
    return np.where(relevant, 1.0 - measure, 0.0), -slope


@register("smooth-ndcg", "1 - sum_i (2^r_i - 1) / log2(1 + pi_i) / Z")
def smooth_ndcg(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """1 - NDCG of smoothed places."""
    z = inverse_ideal(queries, truncated_discount(queries, 0))
    worth = (np.exp2(queries.labels) - 1.0) * spread(z, queries)
    return _smoothed(smooth_ranks.NDCG, worth, scores, queries)


@register("smooth-err", "1 - sum_i R_i / pi_i prod over j != i of (1 - R_j sigma(s_j - s_i))")
def smooth_err(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """1 - ERR, R = (2^r - 1) / 2^(the set's largest label)."""
    worth = (np.exp2(queries.labels) - 1.0) / 2.0 ** queries.labels.max(initial=0)
    return _smoothed(smooth_ranks.ERR, worth, scores, queries)


@register("smooth-mrr", "1 - 1 / pi of the best document (several: their mean)")
def smooth_mrr(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """1 - the reciprocal place of the best document, the mean of them where several are."""
    return _smoothed(smooth_ranks.MRR, best(queries), scores, queries)
