"""LETOR's own normalisation: between the smallest and the largest value of the query."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.transformation import Transformation


@dataclass(frozen=True, eq=False)
class QueryMinMax(Transformation):
    """(x - min) / (max - min) over the query's documents; 0 where max = min.

    It makes LETOR's QueryLevelNorm of LETOR's Feature-min.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR: A Benchmark Collection for Research on Learning to
    Rank for Information Retrieval, Information Retrieval 13(4), 2010, section 3.5.
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
