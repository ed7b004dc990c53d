"""LETOR's own normalisation: between the smallest and the largest value of the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.transformation import Transformation
from letorbench.jit import kernel


@dataclass(frozen=True, eq=False)
class QueryMinMax(Transformation):
    """(x - min) / (max - min) over the query's documents; 0 where max = min.

    It makes LETOR's QueryLevelNorm of LETOR's Feature-min.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR: A Benchmark Collection for Research on Learning to
    Rank for Information Retrieval, Information Retrieval 13(4), 2010, section 3.5.

    Notes
    -----
    `_values` says what `_fill` does, which is compiled: it looks at each document twice.
    """

    name = "query-minmax"
    formula = "(x - min) / (max - min), over the query; 0 where max = min"
    by_query = True

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        smallest = x.min(axis=0)
        width = x.max(axis=0) - smallest
        x -= smallest
        x /= np.where(width > 0.0, width, 1.0)
        return x

    def _fill(self, features: np.ndarray, bounds: np.ndarray, new: np.ndarray) -> None:
        _between_ends(features, bounds.astype(np.int64), new)


@kernel()
def _between_ends(features: np.ndarray, bounds: np.ndarray, new: np.ndarray) -> None:
    """Fill new with (x - min) / (max - min) over the rows between two bounds, each block by itself.

    NaN in a column makes the whole column NaN.
    """
    width = features.shape[1]
    low, high = np.empty(width, features.dtype), np.empty(width, features.dtype)
    smallest, span = np.empty(width), np.empty(width)
    for b in range(len(bounds) - 1):
        low[:], high[:] = np.inf, -np.inf
        for i in range(bounds[b], bounds[b + 1]):
            for k in range(width):
                x = features[i, k]
                low[k] = x if x < low[k] or x != x else low[k]
                high[k] = x if x > high[k] else high[k]
        for k in range(width):
            smallest[k] = low[k]
            span[k] = high[k] - smallest[k] if high[k] > low[k] else 1.0
        for i in range(bounds[b], bounds[b + 1]):
            for k in range(width):
                new[i, k] = (features[i, k] - smallest[k]) / span[k]
