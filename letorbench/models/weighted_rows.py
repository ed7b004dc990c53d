"""The gradient of a linear scorer: a weighted sum of feature rows, in threads."""

from __future__ import annotations

import numpy as np

from letorbench.kernels import row_sums
from letorbench.threads import in_threads


def weighted_rows(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """sum over i of weights[i] features[i], the same bits for any number of threads.

    features (n_docs, n_features) float32, weights (n_docs,) float64 -> (n_features,) float64.
    """
    n_blocks = -(-len(features) // row_sums.BLOCK)
    sums = np.empty((n_blocks, features.shape[1]))

    def part(first: int, last: int) -> None:
        row_sums.weighted(features, weights, first, last, sums)

    in_threads(part, n_blocks, least=4)
    return sums.sum(axis=0)
