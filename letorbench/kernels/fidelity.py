"""FRank's sums over pairs: the fidelity loss, and the pair weights that each cut separates.

A pair's weight W = sigma(o)^(1/2) sigma(-o), o = s_i - s_j, does not factorise, so a search
sees every pair once for every feature. But it needs no scatter of pairs over the cuts: with
W+ and W- the weights of the pairs that a cut orders right and wrong,

    W+ - W- at cut b = sum over documents with code > b of
                       (the document's W as the higher of a pair, minus as the lower),
    W+ + W- at cut b = sum over documents with code <= b of
                       (the sum of its pairs' W sign(partner's code - own code)),

where a pair on one side of the cut cancels itself, and the last sum runs along a row of
partners without a branch.

As in NDCG Boost, u = exp(s - max s) takes one exponential a document, unless a query's
scores span more than SPAN; rows of partners are padded with u = 0, whose W are zero.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import SPAN, exponentials, gather

#: rows are padded to a multiple of this, the compiler's unrolled vector length
VECTOR = 16


@kernel()
def weights(
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    scale: np.ndarray,
    first: int,
    last: int,
    weight: np.ndarray,
    objective: np.ndarray,
) -> None:
    """Queries first..last - 1: objective[q] = scale[q] sum over pairs of 1 - sigma(o)^(1/2), and

    weight[i], in file order: scale[q] W of i's pairs as the higher, minus as the lower.

    order, starts, queries: `QuerySet.by_label`.
    """
    size = longest_query(starts[queries], first, last) + VECTOR
    u, w, row = np.empty(size), np.empty(size), np.empty(size)
    for q in range(first, last):
        begin, end = starts[queries[q]], starts[queries[q + 1]]
        m = end - begin
        gather(scores, order[begin:end], u)
        near = exponentials(u, m, u) <= SPAN
        w[:m] = 0.0
        objective[q] = 0.0
        for b in range(queries[q], queries[q + 1] - 1):
            below = starts[b + 1] - begin
            for i in range(starts[b] - begin, below):
                objective[q] += _fill_row(u, i, below, m, near, scale[q], row)
                w[i] += _spread(row[: m - below], w[below:m])
        for p in range(m):
            weight[order[begin + p]] = w[p]


@kernel()
def best_cuts(
    codes: np.ndarray,
    n_bins: np.ndarray,
    weight: np.ndarray,
    scores: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    scale: np.ndarray,
    first: int,
    last: int,
    best: np.ndarray,
) -> None:
    """For the features k = first..last - 1: the cut whose step lowers the bound most.

    best[k] = ((W+^(1/2) - W-^(1/2))^2, the cut, W+ - W-, W+ + W-), the first 0 where no cut
    lowers it. codes, n_bins: `BinnedFeatures`; weight: what `weights` gave at these scores.
    """
    width, n = 1, last - first
    for k in range(first, last):
        width = max(width, n_bins[k])
    size = longest_query(starts[queries], 0, len(queries) - 1) + VECTOR
    u, row = np.empty(size), np.empty(size)
    own, signed = np.zeros((n, size)), np.empty((n, size))
    differences, sums = np.zeros((n, width)), np.zeros((n, width))
    for q in range(len(queries) - 1):
        if queries[q + 1] - queries[q] < 2:  # one label: no pairs
            continue
        begin, end = starts[queries[q]], starts[queries[q + 1]]
        m = end - begin
        gather(scores, order[begin:end], u)
        near = exponentials(u, m, u) <= SPAN
        for k in range(n):
            for p in range(m):
                own[k, p] = codes[first + k, order[begin + p]]
                signed[k, p] = 0.0
        for b in range(queries[q], queries[q + 1] - 1):
            below = starts[b + 1] - begin
            stop = below + (m - below + VECTOR - 1) // VECTOR * VECTOR
            for i in range(starts[b] - begin, below):
                _fill_row(u, i, below, m, near, scale[q], row)
                for k in range(n):
                    signed[k, i] += _spread_signed(
                        row[: stop - below], own[k, i], own[k, below:stop], signed[k, below:stop]
                    )
        for k in range(n):
            for p in range(m):
                code = codes[first + k, order[begin + p]]
                differences[k, code] += weight[order[begin + p]]
                sums[k, code] += signed[k, p]
    for k in range(n):
        _scan(differences[k], sums[k], n_bins[first + k], best[first + k])


@kernel()
def _fill_row(
    u: np.ndarray, i: int, below: int, m: int, near: bool, scale: float, row: np.ndarray
) -> float:
    """row = scale W of document i with below..m - 1, padded with zeros; scale sum of losses."""
    stop = below + (m - below + VECTOR - 1) // VECTOR * VECTOR
    if near:
        return _row(u[i], u[below:stop], scale, row[: stop - below])
    loss = 0.0
    for j in range(below, m):
        t = np.exp(-abs(u[i] - u[j]))
        right = (1.0 if u[i] > u[j] else t) / (1.0 + t)
        wrong = (t if u[i] > u[j] else 1.0) / (1.0 + t)
        row[j - below] = scale * np.sqrt(right) * wrong
        loss += wrong / (1.0 + np.sqrt(right))
    row[m - below : stop - below] = 0.0
    return scale * loss


@kernel(reorder=True)
def _row(u_i: float, u: np.ndarray, scale: float, row: np.ndarray) -> float:
    """`_fill_row` from u; 1 - sigma(o)^(1/2) is sigma(-o) / (1 + sigma(o)^(1/2))."""
    loss = 0.0
    for j in range(len(u)):
        r = 1.0 / (u_i + u[j])
        root = np.sqrt(u_i * r)
        wrong = scale * (u[j] * r)
        row[j] = root * wrong
        loss += wrong / (1.0 + root)
    return loss


@kernel(reorder=True)
def _spread(row: np.ndarray, w: np.ndarray) -> float:
    """Subtract the row from w; its sum."""
    total = 0.0
    for j in range(len(row)):
        total += row[j]
        w[j] -= row[j]
    return total


@kernel(reorder=True)
def _spread_signed(row: np.ndarray, own: float, codes: np.ndarray, signed: np.ndarray) -> float:
    """Subtract row sign(code - own) from signed; its sum."""
    total = 0.0
    for j in range(len(row)):
        sign = min(max(codes[j] - own, -1.0), 1.0)  # codes are whole numbers
        total += row[j] * sign
        signed[j] -= row[j] * sign
    return total


@kernel()
def _scan(differences: np.ndarray, sums: np.ndarray, n_bins: int, best: np.ndarray) -> None:
    """One feature's best cut from what each bin adds to W- - W+ and to W+ + W-."""
    best[0], best[1] = 0.0, -1.0
    D = S = 0.0
    for b in range(n_bins - 1):
        D -= differences[b]
        S += sums[b]
        gain = S - np.sqrt(max(0.0, S * S - D * D))
        if gain > best[0]:
            best[0], best[1], best[2], best[3] = gain, b, D, S
