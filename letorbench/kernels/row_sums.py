"""Weighted sums of feature rows, by blocks of a fixed size so that threads change nothing."""

from __future__ import annotations

import numpy as np

from letorbench.kernels import kernel

#: rows of a block, summed one after the other whatever the number of threads
BLOCK = 1024


@kernel("(float32[:, ::1], float64[::1], int64, int64, float64[:, ::1])")
def weighted(
    features: np.ndarray, weights: np.ndarray, first: int, last: int, sums: np.ndarray
) -> None:
    """sums[b] = sum over the rows i of block b of weights[i] features[i], b = first..last - 1."""
    n_features = features.shape[1]
    for b in range(first, last):
        total = sums[b]
        total[:] = 0.0
        for i in range(b * BLOCK, min((b + 1) * BLOCK, features.shape[0])):
            weight = weights[i]
            if weight != 0.0:
                for k in range(n_features):
                    total[k] += weight * features[i, k]
