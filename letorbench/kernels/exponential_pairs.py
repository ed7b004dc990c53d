"""RankBoost's sums over pairs, which factorise: each query costs its documents times one.

The loss of a pair is exp(s_j - s_i) = u_j / u_i with u = exp(s - c): with the documents
label-sorted, a document's pairs sum to a running sum of u times its own 1 / u, or of 1 / u
times its own u. c is the middle of the query's scores, so that neither overflows; where the
scores span more than SPAN, each pair takes its own exponential.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: exp of twice half of this still is a float64
SPAN = 600.0


@kernel()
def potentials(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    scale: np.ndarray,
    first: int,
    last: int,
    potential: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Queries first..last - 1: objective[q] = scale[q] sum over pairs of exp(s_j - s_i), and

    potential[i], in file order: what of it has document i as the higher, minus as the lower.

    order, starts, queries: `QuerySet.by_label`.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, starts[queries[q + 1]] - starts[queries[q]])
    u = np.empty(longest)
    for q in range(first, last):
        begin, end = starts[queries[q]], starts[queries[q + 1]]
        objective[q] = 0.0
        if queries[q + 1] - queries[q] < 2:  # one label: no pairs
            for p in range(begin, end):
                potential[order[p]] = 0.0
            continue
        top, bottom = -np.inf, np.inf
        for p in range(begin, end):
            score = scores[order[p]]
            u[p - begin] = score
            top, bottom = max(top, score), min(bottom, score)
        blocks = starts[queries[q] : queries[q + 1] + 1]
        if top - bottom <= SPAN:
            middle = 0.5 * (top + bottom)
            for p in range(end - begin):
                u[p] = np.exp(u[p] - middle)
            objective[q] = scale[q] * _near(u, order, blocks, scale[q], potential)
        else:
            objective[q] = scale[q] * _far(u, order, blocks, scale[q], potential)


@kernel()
def _near(
    u: np.ndarray, order: np.ndarray, blocks: np.ndarray, scale: float, potential: np.ndarray
) -> float:
    """One query from u; blocks are its blocks' sorted positions. The sum over its pairs."""
    begin = blocks[0]
    higher = 0.0  # sum of 1 / u over the blocks before
    for b in range(len(blocks) - 1):
        own = 0.0
        for p in range(blocks[b], blocks[b + 1]):
            potential[order[p]] = -scale * u[p - begin] * higher
            own += 1.0 / u[p - begin]
        higher += own
    total, lower = 0.0, 0.0  # lower: sum of u over the blocks behind
    for b in range(len(blocks) - 2, -1, -1):
        own = 0.0
        for p in range(blocks[b], blocks[b + 1]):
            share = lower / u[p - begin]
            potential[order[p]] += scale * share
            total += share
            own += u[p - begin]
        lower += own
    return total


@kernel()
def _far(
    s: np.ndarray, order: np.ndarray, blocks: np.ndarray, scale: float, potential: np.ndarray
) -> float:
    """`_near` from the scores themselves, an exponential a pair."""
    begin, end = blocks[0], blocks[-1]
    for p in range(begin, end):
        potential[order[p]] = 0.0
    total = 0.0
    for b in range(len(blocks) - 1):
        for i in range(blocks[b], blocks[b + 1]):
            for j in range(blocks[b + 1], end):
                loss = np.exp(s[j - begin] - s[i - begin])
                potential[order[i]] += scale * loss
                potential[order[j]] -= scale * loss
                total += loss
    return total
