"""Weighted Plackett-Luce, and its reverse: choose the best first, or drop the worst first.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 11
and 13. With all weights 1 the first is ListMLE (F. Xia et al., "Listwise Approach to Learning to
Rank", ICML 2008). The documents are in the order of their labels, the highest first.

Equal labels have no order (`letorbench.losses.label_order`). By Breslow's rule the documents of a
label share one denominator, the first that any of them could have, and the mean W_b of their
places' weights:

    -sum_i W_b(i) log(e^{s_i} / sum over r_j <= r_i of e^{s_j})               (11)
    -sum_i W_b(i) log(e^{-s_i} / sum over r_j >= r_i of e^{-s_j})             (13)

In an order of the equal labels, the denominators of a label shrink from this one on. The loss is
therefore at least the mean over all orders of the loss in that order.

`reference` computes both losses for one query in plain NumPy; the compiled kernel below does it in
linear time.
"""

from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.datasets.arrays import read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import ValueAndGradient, in_query_slices
from letorbench.losses.label_order import DocumentWeighted, document_weights


def reference(s: np.ndarray, w: np.ndarray, step: np.ndarray) -> tuple[float, np.ndarray]:
    """Return equation 11 of one query and its gradient; a step's documents are chosen at once."""
    remains = step[:, None] <= step  # u has not been chosen before t
    log_rest = np.array([np.logaddexp.reduce(s[left]) for left in remains])
    p = np.exp(np.where(remains, s[None, :] - log_rest[:, None], -np.inf))
    return float(w @ (log_rest - s)), w @ p - w


class Choices(NamedTuple):
    """The documents of each query in the order of their choice."""

    order: np.ndarray  # (n_docs,), the rows
    starts: np.ndarray  # (n_steps + 1,); step t chooses order[starts[t]:starts[t + 1]] at once
    queries: np.ndarray  # (n_queries + 1,); query q has the steps queries[q]:queries[q + 1]
    weights: np.ndarray  # (n_docs,), in the order of the choices

    def turned(self, queries: QuerySet) -> "Choices":
        """Return the same choices, the last one first."""
        rows, steps = _turned(queries.offsets), _turned(self.queries)
        starts = np.append(0, np.cumsum(np.diff(self.starts)[steps]))
        order = read_only(self.order[rows])
        return Choices(order, read_only(starts), self.queries, self.weights[rows])


def _turned(offsets: np.ndarray) -> np.ndarray:
    """Return positions 0, 1, ... with each segment offsets[q]:offsets[q + 1] reversed."""
    return np.repeat(offsets[1:] + offsets[:-1], np.diff(offsets)) - 1 - np.arange(offsets[-1])


class PlackettLuce(DocumentWeighted):
    """Equation 11, weighted Plackett-Luce; ListMLE with weight 1."""

    name = "wpl"
    formula = "-sum_i weight_i log(e^(s_i) / sum over r_j <= r_i of e^(s_j))"
    reads_order = True

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        return in_query_slices(_chain, queries, scores, self.choices(queries), documents=2_000)

    def choices(self, queries: QuerySet) -> Choices:
        """Choose by falling label, equal labels at once or in file order."""
        blocks = queries.by_label
        weights = document_weights(self.weight, self.ties, queries, self.gain)
        if self.ties == "file":
            each = read_only(np.arange(queries.n_docs + 1))
            return Choices(blocks.order, each, queries.offsets, weights)
        return Choices(blocks.order, blocks.starts, blocks.queries, weights)


class ReversePlackettLuce(PlackettLuce):
    """Equation 13: the same of -s, the worst document chosen first."""

    name = "rpl"
    formula = "-sum_i weight_i log(e^(-s_i) / sum over r_j >= r_i of e^(-s_j))"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        value, gradient = super().__call__(-scores, queries)
        return ValueAndGradient(value, -gradient)

    def choices(self, queries: QuerySet) -> Choices:
        return super().choices(queries).turned(queries)


@kernel()
def _chain(
    scores: np.ndarray, choices: Choices, start: int, stop: int, out: ValueAndGradient
) -> None:
    """Fill out with sum of w_i (L_t - s_i), L_t = log sum over the steps from t on of e^{s_u}."""
    order, starts, weights = choices.order, choices.starts, choices.weights
    log_rest = np.empty(longest_query(choices.queries, start, stop))
    for q in range(start, stop):
        first, last = choices.queries[q], choices.queries[q + 1]
        total, running = 0.0, -np.inf
        for t in range(last - 1, first - 1, -1):
            for p in range(starts[t], starts[t + 1]):
                running = _log_add(running, scores[order[p]])
            log_rest[t - first] = running
            for p in range(starts[t], starts[t + 1]):
                if weights[p] > 0.0:
                    total += weights[p] * (running - scores[order[p]])
        out.value[q] = total
        reached = -np.inf  # log of the sum over i so far of w_i e^{-L_t}
        for t in range(first, last):
            for p in range(starts[t], starts[t + 1]):
                if weights[p] > 0.0:
                    reached = _log_add(reached, np.log(weights[p]) - log_rest[t - first])
            for p in range(starts[t], starts[t + 1]):
                i = order[p]
                out.gradient[i] = np.exp(scores[i] + reached) - weights[p]


@kernel()
def _log_add(a: float, b: float) -> float:
    """Return log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))
