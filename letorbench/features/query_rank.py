"""Ranks within each query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.transformation import Transformation


@dataclass(frozen=True, eq=False)
class QueryRank(Transformation):
    """(rank - 1) / (n - 1) among the query's n documents, the smallest value first.

    Equal values share the mean of their ranks. It is 0 where all are equal.
    """

    name = "rank"
    formula = "(rank - 1) / (n - 1) among the query's n documents, ties shared; 0 where all equal"
    by_query = True

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        from scipy.stats import rankdata

        varied = x.min(axis=0) < x.max(axis=0)
        places = (rankdata(x, axis=0) - 1.0) / max(1, len(x) - 1)
        return np.where(varied, places, 0.0)
