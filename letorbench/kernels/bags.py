"""Linear maps of part of a document's features, most of which are zero (bags of words)."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def embed(
    features: np.ndarray,
    column: int,
    matrix: np.ndarray,
    begin: int,
    end: int,
    out: np.ndarray,
) -> None:
    """out[i] = sum over k of features[i, column + k] matrix[k], documents begin..end - 1."""
    for i in range(begin, end):
        out[i, :] = 0.0
        for k in range(matrix.shape[0]):
            value = features[i, column + k]
            if value != 0.0:
                for h in range(matrix.shape[1]):
                    out[i, h] += value * matrix[k, h]


@kernel()
def collect(
    features: np.ndarray,
    column: int,
    pulls: np.ndarray,
    first: int,
    last: int,
    sums: np.ndarray,
) -> None:
    """sums[k] = sum over documents i of features[i, column + k] pulls[i], k = first..last - 1."""
    sums[first:last] = 0.0
    for i in range(features.shape[0]):
        for k in range(first, last):
            value = features[i, column + k]
            if value != 0.0:
                for h in range(pulls.shape[1]):
                    sums[k, h] += value * pulls[i, h]
