"""Weighted sums of feature rows, by blocks of a fixed size so that threads change nothing."""

from __future__ import annotations

import numpy as np

from letorbench.kernels import kernel

#: rows of a block, summed in the same order whatever the number of threads
BLOCK = 1024


@kernel("(float32[:, ::1], float64[::1], int64, int64, float64[:, ::1])", reorder=True)
def weighted(
    features: np.ndarray, weights: np.ndarray, first: int, last: int, sums: np.ndarray
) -> None:
    """sums[b] = sum over the rows i of block b of weights[i] features[i], b = first..last - 1.

    Rows of weight 0 are skipped; the others are added four at a time.
    """
    n_features = features.shape[1]
    row = np.zeros(4, np.int64)
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        waiting = 0
        stop = min((b + 1) * BLOCK, features.shape[0])
        for i in range(b * BLOCK, stop):
            row[waiting] = i
            waiting += weights[i] != 0.0
            if waiting == 4:
                waiting = 0
                f0, f1, f2, f3 = features[row[0]], features[row[1]], features[row[2]], features[i]
                w0, w1, w2, w3 = weights[row[0]], weights[row[1]], weights[row[2]], weights[i]
                for k in range(n_features):
                    total[k] += (w0 * f0[k] + w1 * f1[k]) + (w2 * f2[k] + w3 * f3[k])
        for r in range(waiting):
            weight, values = weights[row[r]], features[row[r]]
            for k in range(n_features):
                total[k] += weight * values[k]
