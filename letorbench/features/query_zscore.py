"""Mean 0 and variance 1 within each query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.transformation import Transformation


@dataclass(frozen=True, eq=False)
class QueryZScore(Transformation):
    """(x - mean) / standard deviation over the query's documents; 0 where all are equal."""

    name = "query-zscore"
    formula = "(x - mean) / standard deviation, over the query; 0 where all are equal"
    by_query = True

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        x -= x.mean(axis=0)  # float64 sums of equal float32 numbers are exact
        spread = np.sqrt(np.square(x).mean(axis=0))
        x /= np.where(spread > 0.0, spread, 1.0)
        return x
