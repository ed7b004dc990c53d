"""Losses of Plackett-Luce's distribution of orders: ListNet, ListMLE and weighted forms of it.

ListNet (Z. Cao, T. Qin, T. Liu, M. Tsai, H. Li, "Learning to Rank: From Pairwise Approach to
Listwise Approach", ICML 2007, section 4 and the appendix, phi = exp) is the cross entropy of two
distributions over the first k places:

    P_s(j_1 .. j_k) = prod over t of e^{s_{j_t}} / sum over the documents not among
                      j_1 .. j_{t-1} of e^{s_l}
    L(r, s) = -sum over all (j_1 .. j_k) of P_r(j_1 .. j_k) log P_s(j_1 .. j_k)

For k = 1 that is -sum_i softmax(r)_i log softmax(s)_i, with the gradient softmax(s) - softmax(r)
(equation 6). A list of fewer than k documents is placed whole.

Weighted Plackett-Luce and its reverse choose the best document first, or drop the worst first
(T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations
11 and 13). With all weights 1 the first is ListMLE (F. Xia et al., "Listwise Approach to Learning
to Rank", ICML 2008). Equal labels have no order (`letorbench.losses.label_order`): by Breslow's
rule the documents of a label share one denominator, the first that any of them could have, and the
mean W_b of their places' weights:

    -sum_i W_b(i) log(e^{s_i} / sum over r_j <= r_i of e^{s_j})               (11)
    -sum_i W_b(i) log(e^{-s_i} / sum over r_j >= r_i of e^{-s_j})             (13)

In an order of the equal labels, the denominators of a label shrink from this one on. The loss is
therefore at least the mean over all orders of the loss in that order.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.datasets.arrays import read_only
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.losses.label_order import DocumentWeighted, document_weights
from letorbench.parameters import one_of


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


#: the largest number of ways to fill k places of a list: about a second of work
MOST_PLACINGS = 10**8
#: the widest span of scores for which exp(s - max s) stays a normal number
SPAN = 600.0
#: a label this far below the next higher one has no chance against it
FAR = 100


@dataclass(frozen=True)
class TopKCrossEntropy(Loss):
    """The loss of many queries; it costs m^k for a query of m documents."""

    name = "listnet"
    formula = "-sum over the first k places g of P_r(g) log P_s(g), Plackett-Luce"

    k: int = one_of((1, 2, 3), 1)

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        longest, k = int(queries.lengths.max(initial=0)), self.k
        if longest**k > MOST_PLACINGS:
            raise UsageError(
                f"listnet: found a query of {longest} documents, whose first {k} places can be "
                f"filled in about {float(longest**k):.1e} ways, expected {MOST_PLACINGS:.0e} at "
                "most"
            )
        labels = queries.labels
        if labels.max(initial=0) > FAR:
            labels = _nearer(queries)
        powers = np.exp(-np.arange(min(labels.max(initial=0), SPAN) + 1.0))
        arguments = scores, labels, powers, queries.offsets, k
        return in_query_slices(_top_k, queries, *arguments, documents=4_000)


def _nearer(queries: QuerySet) -> np.ndarray:
    """Return labels (n_docs,) in the same order, none more than FAR above the next."""
    blocks, labels = queries.by_label, np.empty(queries.n_docs, np.int64)
    steps = np.append(np.minimum(-np.diff(blocks.labels), FAR), 0)  # to the next block's label
    steps[blocks.queries[1:] - 1] = 0  # of the last block of each query
    sums = np.append(np.cumsum(steps[::-1])[::-1], 0)
    above = sums[:-1] - np.repeat(sums[blocks.queries[1:]], np.diff(blocks.queries))
    labels[blocks.order] = np.repeat(above, np.diff(blocks.starts))
    return labels


@kernel()
def _top_k(
    scores: np.ndarray, labels: np.ndarray, powers: np.ndarray, offsets: np.ndarray, k: int,
    first: int, last: int, out: ValueAndGradient,
) -> None:  # fmt: skip
    """Fill out with L and dL/ds of the queries first..last - 1; powers[d] = e^-d."""
    scratch = np.empty((2, longest_query(offsets, first, last)))
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        s, r, gradient = scores[begin:end], labels[begin:end], out.gradient[begin:end]
        size = len(s)
        gradient[:] = 0.0
        out.value[q] = 0.0
        if size < 2:
            continue
        u, target = scratch[0, :size], scratch[1, :size]
        highest, bottom = 0, np.inf
        for i in range(size):
            highest, bottom = max(highest, r[i]), min(bottom, s[i])
        for i in range(size):
            target[i] = powers[min(highest - r[i], len(powers) - 1)]
        top = _fill(s, target, u)
        near = top - bottom <= SPAN
        # once all others are placed, the last document's place is certain
        out.value[q] = _places(s, u, target, top, min(k, size - 1), 1.0, near, gradient)


@kernel()
def _places(
    s: np.ndarray, u: np.ndarray, target: np.ndarray, top: float, places: int, weight: float,
    near: bool, gradient: np.ndarray,
) -> float:  # fmt: skip
    """Return the cost of the next place and the expected cost of `places - 1` more after it."""
    value = _place(s, u, target, top, weight, gradient)
    if places == 1:
        return value
    total = target.sum()
    for a in range(len(s)):
        if target[a] == 0.0:
            continue
        target_a, u_a = target[a], u[a]
        target[a] = u[a] = 0.0
        # without the best documents all others may underflow: they need new exponentials
        left = top if near else _fill(s, target, u)
        chance = weight * target_a / total
        value += _places(s, u, target, left, places - 1, chance, near, gradient)
        target[a] = target_a
        if near:
            u[a] = u_a
        else:
            _fill(s, target, u)
    return value


@kernel()
def _fill(s: np.ndarray, target: np.ndarray, u: np.ndarray) -> float:
    """u = exp(s - top) of the documents not yet placed (target > 0), top their largest score."""
    top = -np.inf
    for i in range(len(s)):
        if target[i] > 0.0:
            top = max(top, s[i])
    for i in range(len(s)):
        u[i] = np.exp(s[i] - top) if target[i] > 0.0 else 0.0
    return top


@kernel(reorder=True)
def _place(
    s: np.ndarray, u: np.ndarray, target: np.ndarray, top: float, weight: float,
    gradient: np.ndarray,
) -> float:  # fmt: skip
    """Return weight x -sum q log p of one place, q ~ target, p ~ u; add its gradient."""
    size = len(s)
    sum_u, sum_target, sum_score = 0.0, 0.0, 0.0
    for i in range(size):
        sum_u += u[i]
        sum_target += target[i]
        sum_score += target[i] * (s[i] - top)
    p, q = weight / sum_u, weight / sum_target
    for i in range(size):
        gradient[i] += p * u[i] - q * target[i]
    return weight * np.log(sum_u) - q * sum_score
