"""FRank's weights of the pairs: each document's sums of them, and how far they may have fallen."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import SPAN, VECTOR, exponentials, gather, padded


@kernel()
def sum_weights(
    scores: np.ndarray,
    back: np.ndarray,
    blocks: LabelBlocks,
    share: np.ndarray,
    first: int,
    last: int,
    sums: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Sum over the pairs of the queries first..last - 1; a pair of query q counts share[q].

    back: e^(score before - score now), times any constant. objective[q]: the sum of the losses.
    sums[i], in file order: the sum of W over document i's pairs as the higher one minus as the
    lower, and the sum over all its pairs of what W has fallen by since before, at most.
    """
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, v, w, fallen = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        order = blocks.order[begin:end]
        m = end - begin
        gather(scores, order, u)
        gather(back, order, v)
        near = exponentials(u, m, u) <= SPAN
        w[:], fallen[:], objective[q] = 0.0, 0.0, 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
            below = blocks.starts[b + 1] - begin
            stop = below + padded(m - below) if near else m
            row = slice(below, stop)
            for i in range(blocks.starts[b] - begin, below):
                if near:
                    found = _sum_near_row(u[i], v[i], u[row], v[row], w[row], fallen[row])
                else:
                    found = _sum_far_row(u[i], v[i], u[row], v[row], w[row], fallen[row])
                objective[q] += share[q] * found[0]
                w[i] += found[1]
                fallen[i] += found[2]
        for p in range(m):
            sums[order[p], 0], sums[order[p], 1] = share[q] * w[p], share[q] * fallen[p]


@kernel(reorder=True)
def _sum_near_row(
    u_i: float, v_i: float, u: np.ndarray, v: np.ndarray, w: np.ndarray, fallen: np.ndarray
) -> tuple[float, float, float]:
    """Sum the losses, W and falls of a document's pairs; 1 - sigma^(1/2) without cancellation."""
    loss = higher = falls = 0.0
    for j in range(len(u)):
        r = 1.0 / (u_i + u[j])
        right, wrong = u_i * r, u[j] * r
        root = np.sqrt(right)
        fall = root * wrong * _fall(right, wrong, v_i, v[j])
        loss += wrong / (1.0 + root)
        higher += root * wrong
        falls += fall
        w[j] -= root * wrong
        fallen[j] += fall
    return loss, higher, falls


@kernel()
def _sum_far_row(
    s_i: float, v_i: float, s: np.ndarray, v: np.ndarray, w: np.ndarray, fallen: np.ndarray
) -> tuple[float, float, float]:
    """Do as `_sum_near_row` from scores that are too far apart for shared exponentials."""
    loss = higher = falls = 0.0
    for j in range(len(s)):
        right, wrong = both_sides(s_i - s[j])
        root = np.sqrt(right)
        fall = root * wrong * _fall(right, wrong, v_i, v[j])
        loss += wrong / (1.0 + root)
        higher += root * wrong
        falls += fall
        w[j] -= root * wrong
        fallen[j] += fall
    return loss, higher, falls


@kernel(reorder=True)
def _fall(right: float, wrong: float, v_i: float, v_j: float) -> float:
    """Return what a pair's W has fallen by at most, as a share of what it is now.

    right, wrong: sigma(o) and sigma(-o) now; v: e^(score before - score now). sigma(o) before was
    right v_i / (right v_i + wrong v_j). W = sigma(o)^(1/2) - sigma(o)^(3/2) is concave in
    sigma(o), so it was below its tangent at sigma(o) now.
    """
    change = (v_i - v_j) / (right * v_i + wrong * v_j)  # of sigma(o), over right and wrong
    return max((0.5 - 1.5 * right) * change, 0.0)


@kernel()
def both_sides(o: float) -> tuple[float, float]:
    """Return sigma(o) and sigma(-o)."""
    t = np.exp(-abs(o))
    return (1.0 if o > 0.0 else t) / (1.0 + t), (t if o > 0.0 else 1.0) / (1.0 + t)
