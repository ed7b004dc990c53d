"""Weighted pairwise losses, and the pairwise bound of a Markov random field.

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012: equations 9 and
18, Table 3's losses under Table 9's weights.
"""

from __future__ import annotations

from functools import partial
from typing import Literal

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import weighted_pairs as kernels
from letorbench.losses.base import query_share, register
from letorbench.losses.label_order import PAIR_WEIGHTS, levels, pair_weights
from letorbench.threads import in_threads

PairLoss = Literal["quadratic", "hinge", "exponential", "logistic"]
#: Table 3: the loss of a pair i over j at d = s_i - s_j
PAIR_LOSSES = {
    "quadratic": (kernels.QUADRATIC, "(1 - d)^2"),
    "hinge": (kernels.HINGE, "max(0, 1 - d)"),
    "exponential": (kernels.EXPONENTIAL, "exp(-d)"),
    "logistic": (kernels.LOGISTIC, "log(1 + exp(-d))"),
}


def _summed(
    kind: int, weight: str, scores: np.ndarray, queries: QuerySet
) -> tuple[np.ndarray, np.ndarray]:
    value, gradient = np.empty(queries.n_queries), np.empty(queries.n_docs)
    blocks, v, n_levels = queries.by_label, pair_weights(weight, queries), levels(queries)

    def part(start: int, stop: int) -> None:
        kernels.weighted_pairs(
            scores, blocks.order, blocks.starts, blocks.queries, queries.offsets, kind,
            v.c, v.a, v.e, v.by_label, v.by_place, n_levels, start, stop, value, gradient,
        )  # fmt: skip

    in_threads(part, queries.n_queries, query_share(queries, 1_000), queries.lengths**2)
    return value, gradient


for _weight in PAIR_WEIGHTS:
    for _name, (_kind, _formula) in PAIR_LOSSES.items():
        register(
            f"pairwise-{_name}-{_weight}",
            f"sum over pairs r_i > r_j of {_weight} {_formula}, d = s_i - s_j",
            exponential=_name == "exponential",
        )(partial(_summed, _kind, _weight))
    register(
        f"wub-{_weight}",
        f"-sum over pairs of {_weight} log (psi / Z_ij), "
        "psi = exp(gamma sign(r_i - r_j) (s_i - s_j))",
    )(partial(_summed, kernels.FIELD, _weight))
