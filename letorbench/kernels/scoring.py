"""Scores of many documents: each row is summed the same way, so equal rows score equally."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel(reorder=True)
def linear(features: np.ndarray, weights: np.ndarray, bias: float, scores: np.ndarray) -> None:
    """scores[i] = bias + sum over k of features[i, k] weights[k]."""
    for i in range(features.shape[0]):
        total = 0.0
        for k in range(features.shape[1]):
            total += np.float64(features[i, k]) * weights[k]
        scores[i] = bias + total
