"""Ranking measures of smoothed positions, pi_i = 1 + sum over j != i of sigma(s_j - s_i)."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query

NDCG, ERR, MRR = range(3)


@kernel()
def sigma(t: float) -> float:
    """1 / (1 + e^{-t})."""
    e = np.exp(-abs(t))
    return 1.0 / (1.0 + e) if t >= 0.0 else e / (1.0 + e)


@kernel()
def smooth_measure(
    scores: np.ndarray,
    offsets: np.ndarray,
    kind: int,
    worth: np.ndarray,
    start: int,
    stop: int,
    value: np.ndarray,
    gradient: np.ndarray,
) -> None:
    """value[q] = M, gradient (n_docs,) = dM/ds, of the queries start..stop - 1.

    NDCG: sum_i worth_i / log2(1 + pi_i), worth = gain / Z.
    MRR:  sum_i worth_i / pi_i, worth = 1 / (best documents) for the best, else 0.
    ERR:  sum_i (R_i / pi_i) prod over j != i of (1 - R_j sigma(s_j - s_i)), worth = R < 1.
    """
    most = longest_query(offsets, start, stop)
    place, passed = np.empty(most), np.empty(most)
    by_place, by_pass = np.empty(most), np.zeros(most)
    for q in range(start, stop):
        first, m = offsets[q], offsets[q + 1] - offsets[q]
        s, w, g = scores[first : first + m], worth[first : first + m], gradient[first : first + m]
        place[:m] = 1.0
        passed[:m] = 1.0
        g[:] = 0.0
        for i in range(m):
            for j in range(i):
                over = sigma(s[j] - s[i])
                place[i] += over
                place[j] += 1.0 - over
                if kind == ERR:
                    passed[i] *= 1.0 - w[j] * over
                    passed[j] *= 1.0 - w[i] * (1.0 - over)
        total = 0.0
        for i in range(m):
            if kind == NDCG:
                log = np.log2(1.0 + place[i])
                total += w[i] / log
                by_place[i] = -w[i] / (np.log(2.0) * (1.0 + place[i]) * log * log)
            else:
                term = w[i] * passed[i] / place[i]
                total += term
                by_place[i] = -term / place[i]
                by_pass[i] = term if kind == ERR else 0.0
        value[q] = total
        for i in range(m):
            for j in range(i):
                over = sigma(s[j] - s[i])
                bend = over * (1.0 - over)
                # what raising s_j over s_i does to i's place and passing, and to j's
                pull = by_place[i] - by_place[j]
                if kind == ERR:
                    pull -= by_pass[i] * w[j] / (1.0 - w[j] * over)
                    pull += by_pass[j] * w[i] / (1.0 - w[i] * (1.0 - over))
                g[j] += bend * pull
                g[i] -= bend * pull
