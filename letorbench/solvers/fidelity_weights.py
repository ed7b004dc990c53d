"""FRank's weights of the pairs: each document's sums of them, and how far they may have fallen."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import SPAN, VECTOR, exponentials, gather, padded


class Pairs(NamedTuple):
    """The pairs of a training set, and its scores.

    share: (n_queries,) what a pair of each query counts. u, near: of `fill_exponentials`.
    """

    blocks: LabelBlocks
    share: np.ndarray
    u: np.ndarray
    near: np.ndarray


class Sums(NamedTuple):
    """Of a pair, or summed over pairs: the loss, W, and what W has fallen by at most."""

    loss: float
    weight: float
    fall: float


@kernel()
def fill_exponentials(scores: np.ndarray, pairs: Pairs, first: int, last: int) -> None:
    """Fill u, in label order, with what `exponentials` gives for the queries first..last - 1.

    near[q]: whether the scores of query q are near enough for them.
    """
    blocks = pairs.blocks
    for q in range(first, last):
        documents = slice(blocks.offsets[q], blocks.offsets[q + 1])
        own = pairs.u[documents]
        gather(scores, blocks.order[documents], own)
        pairs.near[q] = exponentials(own, len(own), own) <= SPAN


@kernel()
def sum_weights(
    pairs: Pairs,
    back: np.ndarray,
    first: int,
    last: int,
    sums: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Sum over the pairs of the queries first..last - 1.

    back: e^(score before - score now), times any constant: from e^-SPAN to 1. objective[q]: the
    sum of the losses. sums[p], of the document at place p in label order: the sum of W over its
    pairs as the higher one minus as the lower, and the sum over all its pairs of what W has fallen
    by since before, at most.
    """
    blocks, share, all_u, near = pairs
    size = longest_query(blocks.offsets, first, last) + VECTOR
    u, v, w, fallen = np.empty(size), np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        m = end - begin
        u[:m], u[m:] = all_u[begin:end], 0.0
        gather(back, blocks.order[begin:end], v)
        w[:], fallen[:], objective[q] = 0.0, 0.0, 0.0
        for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
            below = blocks.starts[b + 1] - begin
            stop = below + padded(m - below) if near[q] else m
            row = slice(below, stop)
            for i in range(blocks.starts[b] - begin, below):
                if near[q]:
                    found = _sum_near_row(u[i], v[i], u[row], v[row], w[row], fallen[row])
                else:
                    found = _sum_far_row(u[i], v[i], u[row], v[row], w[row], fallen[row])
                objective[q] += share[q] * found.loss
                w[i] += found.weight
                fallen[i] += found.fall
        for p in range(m):
            sums[begin + p, 0], sums[begin + p, 1] = share[q] * w[p], share[q] * fallen[p]


@kernel(reorder=True)
def _sum_near_row(
    u_i: float, v_i: float, u: np.ndarray, v: np.ndarray, w: np.ndarray, fallen: np.ndarray
) -> Sums:
    """Sum over a document's pairs."""
    loss = weight = fall = 0.0
    for j in range(len(u)):
        pair = _pair(u_i, v_i, u[j], v[j])
        loss += pair.loss
        weight += pair.weight
        fall += pair.fall
        w[j] -= pair.weight
        fallen[j] += pair.fall
    return Sums(loss, weight, fall)


@kernel()
def _sum_far_row(
    s_i: float, v_i: float, s: np.ndarray, v: np.ndarray, w: np.ndarray, fallen: np.ndarray
) -> Sums:
    """Do as `_sum_near_row` from scores that are too far apart for shared exponentials."""
    loss = weight = fall = 0.0
    for j in range(len(s)):
        right, wrong = both_sides(s_i - s[j])
        pair = _pair(right, v_i, wrong, v[j])
        loss += pair.loss
        weight += pair.weight
        fall += pair.fall
        w[j] -= pair.weight
        fallen[j] += pair.fall
    return Sums(loss, weight, fall)


@kernel(reorder=True)
def _pair(u_i: float, v_i: float, u_j: float, v_j: float) -> Sums:
    """Return what a pair adds to the sums, with one division.

    u: e^score and v: e^(score before - score now), each times any constant of the pair. With the
    sum a = u_i + u_j, sigma(o) is u_i / a, and 1 - sigma(o)^(1/2) is u_j / (a + (a u_i)^(1/2)),
    without cancellation. Before, sigma(o) was u_i v_i / (u_i v_i + u_j v_j). W = sigma(o)^(1/2) -
    sigma(o)^(3/2) is concave in sigma(o), so it was below its tangent at sigma(o) now.
    """
    both = u_i + u_j
    root, root_i = np.sqrt(both), np.sqrt(u_i)
    roots, before = root + root_i, u_i * v_i + u_j * v_j
    inverse = 1.0 / ((both * root) * (roots * before))  # of e^(-4 SPAN) or more
    weight = root_i * u_j * (roots * before * inverse)
    change = (0.5 * u_j - u_i) * (v_i - v_j) * (both * root * roots * inverse)
    return Sums(u_j * (both * before * inverse), weight, weight * max(change, 0.0))


@kernel()
def both_sides(o: float) -> tuple[float, float]:
    """Return sigma(o) and sigma(-o)."""
    t = np.exp(-abs(o))
    return (1.0 if o > 0.0 else t) / (1.0 + t), (t if o > 0.0 else 1.0) / (1.0 + t)
