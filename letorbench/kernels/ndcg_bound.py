"""NDCG Boost's sums over pairs: each document's weight, the objective, the step's two sums.

A pair's theta = sigma(d) sigma(-d), d = F_i - F_j, is u_i u_j / (u_i + u_j)^2 with
u = exp(F - max F): one exponential a document and one division a pair. Where a query's
scores span more than SPAN that would lose digits, and the pair's own exponential is taken.

Documents stand label-sorted, so document i's partners are the rest of its query behind its
block. The rest is padded with u = 0, whose terms are all zero, to a whole number of vectors.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import SPAN, exponentials, gather

#: rows are padded to a multiple of this, the compiler's unrolled vector length
VECTOR = 32


@kernel()
def weights(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    offsets: np.ndarray,
    gains: np.ndarray,
    scale: np.ndarray,
    first: int,
    last: int,
    weight: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Equation (16)'s w_i, in file order, and each query's part of M, for queries first..last - 1.

    order, starts, queries: `QuerySet.by_label`; gains: 2^r - 1 of each sorted position;
    scale: 1 / Z of each query, 0 for a query that has no Z.
    """
    size = longest_query(offsets, first, last) + VECTOR
    u, w, g = np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = offsets[q], offsets[q + 1]
        if scale[q] == 0.0:
            for i in range(begin, end):
                weight[order[i]] = 0.0
            objective[q] = 0.0
            continue
        m = end - begin
        gather(scores, order[begin:end], u)
        near = exponentials(u, end - begin, u) <= SPAN
        w[:] = 0.0
        g[:m] = gains[begin:end]
        g[m:] = 0.0
        total = 0.0
        for b in range(queries[q], queries[q + 1]):
            above, below = starts[b] - begin, starts[b + 1] - begin
            # sigma(F_j - F_i) + sigma(F_i - F_j) = 1 for the pairs of one label
            total += g[above] * (below - above) * (below - above - 1) / 2.0
            lower_gains = 0.0
            for j in range(below, m):
                lower_gains += g[j]
            total += lower_gains * (below - above)
            stop = below + (m - below + VECTOR - 1) // VECTOR * VECTOR if near else m
            for i in range(above, below):
                if near:
                    total += _row(u, g, w, i, below, stop)
                else:
                    total += _row_far(u, g, w, i, below, stop)
        for i in range(m):
            weight[order[begin + i]] = w[i] * scale[q]
        objective[q] = total * scale[q]


@kernel(reorder=True)
def _row(
    u: np.ndarray, g: np.ndarray, w: np.ndarray, i: int, start: int, stop: int
) -> float:
    """Pairs of document i with start..stop - 1: adds to w; sum of (G_i - G_j) sigma(F_j - F_i)."""
    u_i, g_i, w_i, inverted = u[i], g[i], 0.0, 0.0
    u_j, g_j, w_j = u[start:stop], g[start:stop], w[start:stop]  # from 0: can be vectorised
    for j in range(len(u_j)):
        r = 1.0 / (u_i + u_j[j])
        s = (g_i - g_j[j]) * (u_j[j] * r)
        theta = s * (u_i * r)
        inverted += s
        w_i += theta
        w_j[j] -= theta
    w[i] += w_i
    return inverted


@kernel()
def _row_far(
    f: np.ndarray, g: np.ndarray, w: np.ndarray, i: int, start: int, stop: int
) -> float:
    """`_row` from the scores themselves, an exponential a pair."""
    inverted = 0.0
    for j in range(start, stop):
        t = np.exp(-abs(f[i] - f[j]))
        gain = (g[i] - g[j]) / (1.0 + t)
        inverted += gain * (t if f[i] > f[j] else 1.0)
        w[i] += gain * t / (1.0 + t)
        w[j] -= gain * t / (1.0 + t)
    return inverted


@kernel()
def step_sums(
    scores: np.ndarray,
    chosen: np.ndarray,
    order: np.ndarray,
    offsets: np.ndarray,
    gains: np.ndarray,
    scale: np.ndarray,
    first: int,
    last: int,
    sums: np.ndarray,
) -> None:
    """Theorem 1's two sums for each query: theta G_i / Z over the pairs f_i > f_j, and f_i < f_j.

    chosen: f of each document, file order; gains, scale: as for `weights`.
    """
    size = longest_query(offsets, first, last) + VECTOR
    u = np.empty(size)
    side_u, side_g = np.empty((2, size)), np.empty((2, size))
    count, relevant = np.empty(2, np.int64), np.empty(2, np.int64)
    for q in range(first, last):
        sums[q, 0] = sums[q, 1] = 0.0
        if scale[q] == 0.0:
            continue
        begin, end = offsets[q], offsets[q + 1]
        gather(scores, order[begin:end], u)
        near = exponentials(u, end - begin, u) <= SPAN
        side_u[:] = 0.0
        count[:] = 0
        relevant[:] = 0
        for i in range(begin, end):  # the relevant come first, so they lead each side too
            s = 1 if chosen[order[i]] else 0
            side_u[s, count[s]] = u[i - begin]
            side_g[s, count[s]] = gains[i]
            count[s] += 1
            relevant[s] += 1 if gains[i] > 0.0 else 0
        for s in range(2):
            others = side_u[1 - s, : (count[1 - s] + VECTOR - 1) // VECTOR * VECTOR]
            for i in range(relevant[s]):
                if near:
                    theta = _sum_theta(side_u[s, i], others)
                else:
                    theta = _sum_theta_far(side_u[s, i], side_u[1 - s, : count[1 - s]])
                sums[q, 1 - s] += side_g[s, i] * theta * scale[q]


@kernel(reorder=True)
def _sum_theta(u_i: float, u: np.ndarray) -> float:
    """The sum of theta of one document with others."""
    total = 0.0
    for j in range(len(u)):
        r = 1.0 / (u_i + u[j])
        total += (u[j] * r) * r
    return total * u_i


@kernel()
def _sum_theta_far(f_i: float, f: np.ndarray) -> float:
    """`_sum_theta` from the scores themselves, an exponential a pair."""
    total = 0.0
    for j in range(len(f)):
        t = np.exp(-abs(f_i - f[j]))
        total += t / ((1.0 + t) * (1.0 + t))
    return total
