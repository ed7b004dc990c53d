"""Features as they are."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.features.transformation import Transformation


@dataclass(frozen=True, eq=False)
class Raw(Transformation):
    """x as it is; nothing is copied."""

    name = "raw"
    formula = "x"

    def transform(self, features: np.ndarray, offsets: np.ndarray | None = None) -> np.ndarray:
        return features

    def __call__(self, queries: QuerySet) -> QuerySet:
        return queries

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        return x
