"""The weighted pseudo-likelihood of a Markov random field of a query's labels.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012,
equations 14 and 16: P(r) is proportional to the product over the pairs of
psi(r_i, r_j) = exp(gamma sign(r_i - r_j) (s_i - s_j)), gamma = 2 / (m (m - 1)), and each label
0 .. L - 1 of the set is possible. The loss is -sum_i W_i log P(r_i | the other labels), where

    log P(l | the other labels) = h_i(l) - log sum_k e^{h_i(k)}
    h_i(l) = gamma sum_j sign(l - r_j) (s_i - s_j)

`reference` computes it for one query in plain NumPy; the compiled kernel below does it from each
label's number and sum of scores, in O(m L).
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel
from letorbench.losses.base import ValueAndGradient, in_query_slices
from letorbench.losses.label_order import (
    DocumentWeighted,
    document_weights,
    label_count,
)


def reference(s: np.ndarray, r: np.ndarray, w: np.ndarray, levels: int) -> tuple[float, np.ndarray]:
    """Return the loss of one query and its gradient; s, r, w are (m,)."""
    m = len(s)
    gamma = 2.0 / (m * (m - 1)) if m > 1 else 0.0
    sign = np.sign(np.arange(levels)[:, None] - r[None, :])  # [l, j]
    h = gamma * (s[:, None] * sign.sum(axis=1) - sign @ s)  # [i, l]
    log_z = np.logaddexp.reduce(h, axis=1)
    value = w @ (log_z - h[np.arange(m), r])
    by_h = w[:, None] * np.exp(h - log_z[:, None])
    by_h[np.arange(m), r] -= w
    return float(value), gamma * (by_h @ sign.sum(axis=1) - by_h.sum(axis=0) @ sign)


class PseudoLikelihood(DocumentWeighted):
    """Equation 16."""

    name = "wpll"
    formula = "-sum_i weight_i log P(r_i | the other labels)"

    def __call__(self, scores: np.ndarray, queries: QuerySet) -> ValueAndGradient:
        weights = np.empty(queries.n_docs)
        weights[queries.by_label.order] = document_weights(self.weight, self.ties, queries)
        documents, levels = (queries.labels, queries.offsets), label_count(queries)
        arguments = _pseudo_likelihood, queries, scores, *documents, levels, weights
        return in_query_slices(*arguments, documents=2_000)


@kernel()
def _pseudo_likelihood(
    scores: np.ndarray,
    labels: np.ndarray,
    offsets: np.ndarray,
    levels: int,
    weights: np.ndarray,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with the loss of the queries start..stop - 1; weights are in file order."""
    gradient = out.gradient
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
        out.value[q] = loss
        for i in range(first, last):  # through the sums that every document is part of
            through = 0.0
            for k in range(levels):
                through += np.sign(k - labels[i]) * pulls[k]
            gradient[i] -= gamma * through
