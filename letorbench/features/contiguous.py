"""Features with each column in one piece; a query set has each document in one piece."""

from __future__ import annotations

import numpy as np

#: documents that are copied at a time: what is read of them stays in the processor's cache
ROWS = 1024


def contiguous_columns(features: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
    """Copy the columns first..last - 1 of features (n_docs, n_features).

    Returns
    -------
    ndarray of shape (last - first, n_docs)
        In C order, in the type of the features.
    """
    chosen = features[:, first:last]
    columns = np.empty(chosen.shape[::-1], features.dtype)
    for start in range(0, len(features), ROWS):
        columns[:, start : start + ROWS] = chosen[start : start + ROWS].T
    return columns
