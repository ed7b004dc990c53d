"""Losses of the pairs of a query's documents with different labels."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import pairs
from letorbench.losses.base import query_share, register
from letorbench.threads import in_threads


@register("ranknet", "sum over pairs r_i > r_j of log(1 + exp(-(s_i - s_j)))")
def ranknet(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """The logistic loss of pairs (Burges et al., ICML 2005; NIPS 2006, equation 8)."""
    value, gradient = np.empty(queries.n_queries), np.empty(queries.n_docs)
    blocks = queries.by_label

    def part(start: int, stop: int) -> None:
        pairs.ranknet(
            scores, blocks.order, blocks.starts, blocks.queries, queries.offsets,
            start, stop, value, gradient,
        )  # fmt: skip

    in_threads(part, queries.n_queries, query_share(queries, 1_000))
    return value, gradient
