"""Weighted Plackett-Luce, and its reverse: choose the best first, or drop the worst first.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012,
equations 11 and 13. With all weights 1 the first is ListMLE (F. Xia et al., "Listwise Approach
to Learning to Rank", ICML 2008). The documents are in the order of their labels, the highest
first. Equal labels are in file order, which is one of the orders that they allow.

`reference` computes both losses for one query in plain NumPy; the compiled kernel below does it
in linear time.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.label_order import DOCUMENT_WEIGHTS, DocumentWeight, places


def reference(s: np.ndarray, w: np.ndarray) -> tuple[float, np.ndarray]:
    """Return equation 11 and its gradient for one query.

    The value is -sum_t w_t log(e^{s_t} / sum over u >= t of e^{s_u}). s and w (m,) are in the
    order of the choices, the first choice first. Equation 13 is the same of -s, with the order
    turned round.
    """
    m = len(s)
    log_rest = np.array([np.logaddexp.reduce(s[t:]) for t in range(m)])
    remains = np.arange(m)[:, None] <= np.arange(m)  # u has not been chosen before t
    p = np.exp(np.where(remains, s[None, :] - log_rest[:, None], -np.inf))
    return float(w @ (log_rest - s)), w @ p - w


def weighted_plackett_luce(
    weight: DocumentWeight, scores: np.ndarray, queries: QuerySet
) -> ValueAndGradient:
    """Equation 11: -sum_i W_i log(e^{s_i} / sum over j from i on of e^{s_j})."""
    return _chained(scores, queries.by_label.order, weight.of(queries), queries)


def reverse_plackett_luce(
    weight: DocumentWeight, scores: np.ndarray, queries: QuerySet
) -> ValueAndGradient:
    """Equation 13: -sum_i W_i log(e^{-s_i} / sum over j up to i of e^{-s_j})."""
    turned = np.repeat(queries.offsets[1:], queries.lengths) - places(queries)
    weights = weight.of(queries)[turned]
    value, gradient = _chained(-scores, queries.by_label.order[turned], weights, queries)
    return ValueAndGradient(value, -gradient)


def _chained(
    scores: np.ndarray, order: np.ndarray, weights: np.ndarray, queries: QuerySet
) -> ValueAndGradient:
    """Return the loss of choosing the documents in that order."""
    return in_query_slices(
        _chain, queries, scores, order, queries.offsets, weights, documents=2_000
    )


LOSSES = (
    *(
        Loss(
            f"wpl-{weight}",
            f"-sum_i {weight} log(e^(s_i) / sum over j from i on of e^(s_j))",
            partial(weighted_plackett_luce, weight),
        )
        for weight in DOCUMENT_WEIGHTS.values()
    ),
    *(
        Loss(
            f"rpl-{weight}",
            f"-sum_i {weight} log(e^(-s_i) / sum over j up to i of e^(-s_j))",
            partial(reverse_plackett_luce, weight),
        )
        for weight in DOCUMENT_WEIGHTS.values()
    ),
)


@kernel()
def _chain(
    scores: np.ndarray,
    order: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with sum over t of w_t (L_t - s_t), L_t = log sum over u >= t of e^{s_u}.

    t and u are places in the query's part of `order` (n_docs,), which names documents. weights
    (n_docs,) are in that order, the gradient is in file order.
    """
    log_rest = np.empty(longest_query(offsets, start, stop))
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        total, running = 0.0, -np.inf
        for t in range(size - 1, -1, -1):
            s = scores[order[first + t]]
            running = _log_add(running, s)
            log_rest[t] = running
            w = weights[first + t]
            if w > 0.0:
                total += w * (running - s)
        out.value[q] = total
        reached = -np.inf  # log of the sum over t so far of w_t e^{-L_t}
        for t in range(size):
            w = weights[first + t]
            if w > 0.0:
                reached = _log_add(reached, np.log(w) - log_rest[t])
            i = order[first + t]
            out.gradient[i] = np.exp(scores[i] + reached) - w


@kernel()
def _log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
