"""A weighted sum of feature rows: the gradient of every linear model.

The rows are summed by blocks of a fixed size, so the number of threads changes nothing.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.threads import in_threads

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

    in_threads(part, n_blocks, least=4)
    return sums.sum(axis=0)


@kernel(reorder=True)
def _sum_blocks(
    features: np.ndarray, weights: np.ndarray, first: int, last: int, sums: np.ndarray
) -> None:
    """sums[b] = sum over the rows i of block b of weights[i] features[i], b = first..last - 1.

    Rows of weight 0 are skipped. The others are added four at a time.
    """
    n_features = features.shape[1]
    rows = np.empty(BLOCK, np.int64)
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        kept = 0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, features.shape[0])):
            rows[kept] = i
            kept += weights[i] != 0.0
        fours = kept - kept % 4
        for t in range(0, fours, 4):
            i0, i1, i2, i3 = rows[t], rows[t + 1], rows[t + 2], rows[t + 3]
            f0, f1, f2, f3 = features[i0], features[i1], features[i2], features[i3]
            w0, w1, w2, w3 = weights[i0], weights[i1], weights[i2], weights[i3]
            for k in range(n_features):
                total[k] += (w0 * f0[k] + w1 * f1[k]) + (w2 * f2[k] + w3 * f3[k])
        for i in rows[fours:kept]:
            for k in range(n_features):
                total[k] += weights[i] * features[i, k]
