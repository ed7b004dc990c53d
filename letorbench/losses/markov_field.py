"""The weighted pseudo-likelihood of a Markov random field of a query's labels.

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 14 and
16: P(r) is proportional to the product over pairs of psi(r_i, r_j) = exp(gamma sign(r_i - r_j)
(s_i - s_j)), gamma = 2 / (m (m - 1)); each label 0 .. L - 1 of the set is possible.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels.markov_field import pseudo_likelihood
from letorbench.losses.base import query_share, register
from letorbench.losses.label_order import DOCUMENT_WEIGHTS, document_weights, levels
from letorbench.threads import in_threads


def _local(weight: str, scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    value, gradient = np.empty(queries.n_queries), np.empty(queries.n_docs)
    weights = np.empty(queries.n_docs)
    weights[queries.by_label.order] = document_weights(weight, queries)
    n_levels = levels(queries)

    def part(start: int, stop: int) -> None:
        pseudo_likelihood(
            scores, queries.labels, queries.offsets, n_levels, weights, start, stop,
            value, gradient,
        )  # fmt: skip

    in_threads(part, queries.n_queries, query_share(queries, 2_000))
    return value, gradient


for _weight in DOCUMENT_WEIGHTS:
    register(f"wpll-{_weight}", f"-sum_i {_weight} log P(r_i | the other labels)")(
        partial(_local, _weight)
    )
