"""Weighted Plackett-Luce, forwards and in reverse.

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 11 and
13. With all weights 1 the forward one is ListMLE (Xia et al., ICML 2008). The order is that of
the labels, the highest first; equal labels are in file order, one of the orders they allow.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels.chains import chain
from letorbench.losses.base import query_share, register
from letorbench.losses.label_order import DOCUMENT_WEIGHTS, document_weights, places
from letorbench.threads import in_threads


def _forwards(
    weight: str, scores: np.ndarray, queries: QuerySet
) -> tuple[np.ndarray, np.ndarray]:
    """Choose the best first: -sum_i W_i log(e^{s_i} / sum over j from i on of e^{s_j})."""
    return _chained(scores, queries.by_label.order, document_weights(weight, queries), queries)


def _backwards(
    weight: str, scores: np.ndarray, queries: QuerySet
) -> tuple[np.ndarray, np.ndarray]:
    """Drop the worst first: -sum_i W_i log(e^{-s_i} / sum over j up to i of e^{-s_j})."""
    turned = np.repeat(queries.offsets[1:], queries.lengths) - places(queries)
    weights = document_weights(weight, queries)[turned]
    value, gradient = _chained(-scores, queries.by_label.order[turned], weights, queries)
    return value, -gradient


def _chained(
    scores: np.ndarray, order: np.ndarray, weights: np.ndarray, queries: QuerySet
) -> tuple[np.ndarray, np.ndarray]:
    value, gradient = np.empty(queries.n_queries), np.empty(queries.n_docs)

    def part(start: int, stop: int) -> None:
        chain(scores, order, queries.offsets, weights, start, stop, value, gradient)

    in_threads(part, queries.n_queries, query_share(queries, 2_000))
    return value, gradient


for _weight in DOCUMENT_WEIGHTS:
    register(
        f"wpl-{_weight}", f"-sum_i {_weight} log(e^(s_i) / sum over j from i on of e^(s_j))"
    )(partial(_forwards, _weight))
    register(
        f"rpl-{_weight}", f"-sum_i {_weight} log(e^(-s_i) / sum over j up to i of e^(-s_j))"
    )(partial(_backwards, _weight))
