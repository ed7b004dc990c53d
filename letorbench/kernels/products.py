"""Quadratic scores: the kept products of features, never written down.

Documents are taken LANES at a time, their standardised features turned so that a product is an
operation on LANES neighbouring numbers whatever the pattern of the kept ones. Each document's
score is the same sum in the same order wherever it stands.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

LANES = 16
#: documents whose gradients are summed before the next ones' are turned
ROWS = 128


@kernel()
def _turn(
    features: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    begin: int,
    end: int,
    x: np.ndarray,
) -> None:
    """x[k, lane] = feature k of document begin + lane, standardised; 0 from `end` on."""
    for lane in range(x.shape[1]):
        if begin + lane < end:
            row = features[begin + lane]
            for k in range(len(mean)):
                x[k, lane] = (row[k] - mean[k]) / scale[k]
        else:
            x[:, lane] = 0.0


@kernel()
def quadratic(
    features: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    weights: np.ndarray,
    starts: np.ndarray,
    second: np.ndarray,
    products: np.ndarray,
    begin: int,
    end: int,
    scores: np.ndarray,
) -> None:
    """scores[i] = sum_k w_k x_k + sum over the kept j >= k of c_kj x_k x_j, x standardised.

    Feature k's products are with second[p], coefficient products[p], p in
    starts[k]:starts[k + 1].
    """
    n_features = len(mean)
    x = np.empty((n_features, LANES))
    total, inner = np.empty(LANES), np.empty(LANES)
    for first in range(begin, end, LANES):
        _turn(features, mean, scale, first, end, x)
        total[:] = 0.0
        for k in range(n_features):
            own = x[k]
            w = weights[k]
            for lane in range(LANES):
                inner[lane] = w
            for p in range(starts[k], starts[k + 1]):
                c, other = products[p], x[second[p]]
                for lane in range(LANES):
                    inner[lane] += c * other[lane]
            for lane in range(LANES):
                total[lane] += own[lane] * inner[lane]
        for i in range(first, min(first + LANES, end)):
            scores[i] = total[i - first]


@kernel(reorder=True)
def product_sums(
    features: np.ndarray,
    mean: np.ndarray,
    scale: np.ndarray,
    starts: np.ndarray,
    second: np.ndarray,
    gradient: np.ndarray,
    first: int,
    last: int,
    sums: np.ndarray,
) -> None:
    """sums[p] = sum over documents of gradient_i x_k x_j of the products of k = first..last - 1."""
    n_docs = features.shape[0]
    x = np.empty((len(mean), ROWS))
    pulled = np.empty(ROWS)
    sums[starts[first] : starts[last]] = 0.0
    for begin in range(0, n_docs, ROWS):
        _turn(features, mean, scale, begin, n_docs, x)
        for k in range(first, last):
            if starts[k] == starts[k + 1]:
                continue
            own = x[k]
            for lane in range(min(ROWS, n_docs - begin)):
                pulled[lane] = gradient[begin + lane] * own[lane]
            pulled[min(ROWS, n_docs - begin) :] = 0.0
            for p in range(starts[k], starts[k + 1]):
                other, total = x[second[p]], 0.0
                for lane in range(ROWS):
                    total += pulled[lane] * other[lane]
                sums[p] += total
