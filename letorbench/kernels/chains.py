"""Plackett-Luce chains: the weighted log-loss of choosing documents in a given order."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query


@kernel()
def log_add(a: float, b: float) -> float:
    """log(e^a + e^b)."""
    if a < b:
        a, b = b, a
    return a if b == -np.inf else a + np.log1p(np.exp(b - a))


@kernel()
def chain(
    scores: np.ndarray,
    order: np.ndarray,
    offsets: np.ndarray,
    weights: np.ndarray,
    start: int,
    stop: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """value[q] = sum over t of w_t (L_t - s_t), L_t = log sum over u >= t of e^{s_u}.

    t, u are places in the query's part of `order` (n_docs,), which names documents; weights
    (n_docs,) are in that order too. gradient is by document. Queries start..stop - 1.
    """
    tail = np.empty(longest_query(offsets, start, stop))
    for q in range(start, stop):
        first, size = offsets[q], offsets[q + 1] - offsets[q]
        total, running = 0.0, -np.inf
        for t in range(size - 1, -1, -1):
            s = scores[order[first + t]]
            running = log_add(running, s)
            tail[t] = running
            w = weights[first + t]
            if w > 0.0:
                total += w * (running - s)
        value[q] = total
        reached = -np.inf  # log of the sum over t so far of w_t e^{-L_t}
        for t in range(size):
            w = weights[first + t]
            if w > 0.0:
                reached = log_add(reached, np.log(w) - tail[t])
            i = order[first + t]
            gradient[i] = np.exp(scores[i] + reached) - w
