"""A weighted sum of feature rows: the gradient of every linear model.

The rows are summed by blocks of a fixed size, so the number of threads changes nothing.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.threads import parallel_for

#: rows of a block
BLOCK = 1024


def weighted_rows(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights @ features, with the same bits for any number of threads.

    Parameters
    ----------
    features : ndarray of shape (n_docs, n_features), float32
    weights : ndarray of shape (n_docs,), float64

    Returns
    -------
    ndarray of shape (n_features,), float64
    """
    n_blocks = -(-len(features) // BLOCK)
    sums = np.empty((n_blocks, features.shape[1]))

    def part(first: int, last: int) -> None:
        _sum_blocks(features, weights, first, last, sums)

    parallel_for(part, n_blocks, least=4)
    return sums.sum(axis=0)


@kernel(reorder=True)
def _sum_blocks(
    features: np.ndarray, weights: np.ndarray, first: int, last: int, sums: np.ndarray
) -> None:
    """sums[b] = sum over the rows i of block b of weights[i] features[i], b = first..last - 1.

    One row after the other: memory is read fastest in its order. Rows of weight 0 are skipped.
    """
    n_features = features.shape[1]
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, features.shape[0])):
            if weights[i] == 0.0:
                continue
            weight, row = weights[i], features[i]
            for k in range(n_features):
                total[k] += weight * row[k]


@kernel(reorder=True)
def add_rows(features: np.ndarray, weights: np.ndarray, total: np.ndarray) -> None:
    """total += weights @ features, four rows at a time: quick where the rows are in the cache."""
    n_rows, n_features = features.shape
    fours = n_rows - n_rows % 4
    for i in range(0, fours, 4):
        x0, x1, x2, x3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        w0, w1, w2, w3 = weights[i], weights[i + 1], weights[i + 2], weights[i + 3]
        for k in range(n_features):
            total[k] += (w0 * x0[k] + w1 * x1[k]) + (w2 * x2[k] + w3 * x3[k])
    for i in range(fours, n_rows):
        weight, row = weights[i], features[i]
        for k in range(n_features):
            total[k] += weight * row[k]
