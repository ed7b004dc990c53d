"""ListNet's cross entropies of Plackett-Luce distributions over the first k places."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: the widest span of scores for which exp(s - max s) stays a normal number
SPAN = 600.0


@kernel(reorder=True)
def _place(
    s: np.ndarray,
    u: np.ndarray,
    target: np.ndarray,
    top: float,
    weight: float,
    size: int,
    gradient: np.ndarray,
) -> float:
    """weight x -sum q log p for one place: q ~ target, p ~ u = exp(s - top).

    Adds weight (p - q) to the gradient. Documents already placed have u = target = 0.
    """
    sum_u, sum_target, sum_score = 0.0, 0.0, 0.0
    for i in range(size):
        sum_u += u[i]
        sum_target += target[i]
        sum_score += target[i] * (s[i] - top)
    p, q = weight / sum_u, weight / sum_target
    for i in range(size):
        gradient[i] += p * u[i] - q * target[i]
    return weight * np.log(sum_u) - q * sum_score


@kernel()
def _fill(s: np.ndarray, target: np.ndarray, size: int, u: np.ndarray) -> float:
    """u = exp(s - top) of the documents not yet placed (target > 0), top their largest score."""
    top = -np.inf
    for i in range(size):
        if target[i] > 0.0:
            top = max(top, s[i])
    for i in range(size):
        u[i] = np.exp(s[i] - top) if target[i] > 0.0 else 0.0
    return top


@kernel()
def _places(
    s: np.ndarray,
    u: np.ndarray,
    target: np.ndarray,
    top: float,
    places: int,
    weight: float,
    near: bool,
    size: int,
    gradient: np.ndarray,
) -> float:
    """The cost of the next place, and the expected cost of `places - 1` more after it."""
    value = _place(s, u, target, top, weight, size, gradient)
    if places == 1:
        return value
    total = target[:size].sum()
    for a in range(size):
        if target[a] == 0.0:
            continue
        target_a, u_a = target[a], u[a]
        target[a] = u[a] = 0.0
        # without the best documents what is left may all underflow: new exponentials there
        left = top if near else _fill(s, target, size, u)
        chance = weight * target_a / total
        value += _places(s, u, target, left, places - 1, chance, near, size, gradient)
        target[a] = target_a
        if near:
            u[a] = u_a
        else:
            _fill(s, target, size, u)
    return value


@kernel()
def top_k(
    scores: np.ndarray,
    labels: np.ndarray,
    offsets: np.ndarray,
    k: int,
    first: int,
    last: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """Each query's -sum over the first k places g of P_r(g) log P_s(g), and its gradient.

    Costs m^k for m documents: a place's sums for each way to fill the places before it.
    """
    longest = 1
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    u, target = np.empty(longest), np.empty(longest)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        size = end - begin
        value[q] = 0.0
        gradient[begin:end] = 0.0
        if size < 2:
            continue
        s = scores[begin:end]
        highest, bottom = 0, np.inf
        for i in range(size):
            highest = max(highest, labels[begin + i])
            bottom = min(bottom, s[i])
        for i in range(size):
            target[i] = np.exp(np.float64(labels[begin + i] - highest))
        top = _fill(s, target, size, u)
        # once all others are placed the last document's place is certain
        value[q] = _places(
            s, u, target, top, min(k, size - 1), 1.0, top - bottom <= SPAN, size,
            gradient[begin:end],
        )  # fmt: skip
