"""The Markov random field of a query's labels: the local conditionals of its pseudo-likelihood."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def pseudo_likelihood(
    scores: np.ndarray,
    labels: np.ndarray,
    offsets: np.ndarray,
    levels: int,
    weights: np.ndarray,
    start: int,
    stop: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """value[q] = -sum_i W_i log P(r_i | the other labels), labels 0..levels - 1 possible.

    log P(l | others) = h_i(l) - log sum_k e^{h_i(k)}, h_i(l) = gamma sum_j sign(l - r_j)
    (s_i - s_j), gamma = 2 / (m (m - 1)), from each level's number and sum of scores: O(m
    levels) a query. weights, gradient (n_docs,) in file order.
    """
    number, total = np.empty(levels), np.empty(levels)
    slope, middle = np.empty(levels), np.empty(levels)
    pulls, h = np.empty(levels), np.empty(levels)
    for q in range(start, stop):
        first, last = offsets[q], offsets[q + 1]
        m = last - first
        gamma = 2.0 / (m * (m - 1.0)) if m > 1 else 0.0
        number[:] = 0.0
        total[:] = 0.0
        pulls[:] = 0.0
        for i in range(first, last):
            number[labels[i]] += 1.0
            total[labels[i]] += scores[i]
        below, under, everyone, everything = 0.0, 0.0, number.sum(), total.sum()
        for k in range(levels):  # h_i(l) = slope[l] s_i - middle[l]
            above = everyone - below - number[k]
            over = everything - under - total[k]
            slope[k] = gamma * (below - above)
            middle[k] = gamma * (under - over)
            below += number[k]
            under += total[k]
        loss = 0.0
        for i in range(first, last):
            r, s = labels[i], scores[i]
            largest = -np.inf
            for k in range(levels):
                h[k] = slope[k] * s - middle[k]
                largest = max(largest, h[k])
            z = 0.0
            for k in range(levels):
                z += np.exp(h[k] - largest)
            loss += weights[i] * (largest + np.log(z) - h[r])
            own = 0.0
            for k in range(levels):
                c = weights[i] * (np.exp(h[k] - largest) / z - (1.0 if k == r else 0.0))
                own += c * slope[k]
                pulls[k] += c
            gradient[i] = own
        value[q] = loss
        for i in range(first, last):  # through the sums that every document is part of
            through = 0.0
            for k in range(levels):
                through += np.sign(k - labels[i]) * pulls[k]
            gradient[i] -= gamma * through
