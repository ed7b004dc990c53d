"""ListNet's loss: the cross entropy of two Plackett-Luce distributions over the first k places.

Z. Cao, T. Qin, T. Liu, M. Tsai, H. Li, "Learning to Rank: From Pairwise Approach to Listwise
Approach", ICML 2007, section 4 and the appendix: with phi = exp,

    P_s(j_1 .. j_k) = prod over t of e^{s_{j_t}} / sum over the documents not among
                      j_1 .. j_{t-1} of e^{s_l}
    L(r, s) = -sum over all (j_1 .. j_k) of P_r(j_1 .. j_k) log P_s(j_1 .. j_k)

For k = 1 that is -sum_i softmax(r)_i log softmax(s)_i, with the gradient softmax(s) - softmax(r)
(equation 6). A list of fewer than k documents is placed whole.

`reference` computes it for one query in plain NumPy; the compiled kernels below are exact too.
"""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from letorbench.compiled.jit import kernel, longest_query
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import Loss, ValueAndGradient, in_query_slices
from letorbench.parameters import one_of

#: the largest number of ways to fill k places of a list: about a second of work
MOST_PLACINGS = 10**8
#: the widest span of scores for which exp(s - max s) stays a normal number
SPAN = 600.0
#: a label this far below the next higher one has no chance against it
FAR = 100


def reference(scores: np.ndarray, labels: np.ndarray, k: int) -> tuple[float, np.ndarray]:
    """Return L and dL/ds of one query, by enumerating the ways to fill k places."""
    value, gradient = 0.0, np.zeros(len(scores))
    for places in permutations(range(len(scores)), min(k, len(scores))):
        log_p_labels, _ = log_placing(labels, places)
        log_p_scores, slope = log_placing(scores, places)
        value -= np.exp(log_p_labels) * log_p_scores
        gradient -= np.exp(log_p_labels) * slope
    return value, gradient


def log_placing(scores: np.ndarray, places: tuple[int, ...]) -> tuple[float, np.ndarray]:
    """Return log P_s(j_1 .. j_k) and its gradient by s (m,)."""
    left = np.ones(len(scores), bool)
    log_p, gradient = 0.0, np.zeros(len(scores))
    for j in places:
        shifted = np.where(left, scores - scores[left].max(), -np.inf)
        e = np.exp(shifted)
        log_p += shifted[j] - np.log(e.sum())
        gradient[j] += 1.0
        gradient -= e / e.sum()
        left[j] = False
    return log_p, gradient


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
    scores: np.ndarray,
    labels: np.ndarray,
    powers: np.ndarray,
    offsets: np.ndarray,
    k: int,
    first: int,
    last: int,
    out: ValueAndGradient,
) -> None:
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
    s: np.ndarray,
    u: np.ndarray,
    target: np.ndarray,
    top: float,
    places: int,
    weight: float,
    near: bool,
    gradient: np.ndarray,
) -> float:
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
    s: np.ndarray,
    u: np.ndarray,
    target: np.ndarray,
    top: float,
    weight: float,
    gradient: np.ndarray,
) -> float:
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
