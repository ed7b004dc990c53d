"""Mean 0 and variance 1 over the training set."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from letorbench.errors import DataError
from letorbench.features.moments import mean_and_variance
from letorbench.features.transformation import Transformation

if TYPE_CHECKING:
    from typing import Self

LARGEST = float(np.finfo(np.float32).max)


@dataclass(frozen=True, eq=False)
class ZScore(Transformation):
    """(x - mean) / scale, both of the training set; 0 for a feature that is constant there.

    Parameters
    ----------
    mean : ndarray of shape (n_features,), float64
    scale : ndarray of shape (n_features,), float64
        The standard deviation. It is 0 for a constant feature, whose value elsewhere says
        nothing.
    """

    mean: np.ndarray
    scale: np.ndarray

    name = "zscore"
    formula = "(x - mean) / standard deviation, over the training set; 0 where all are equal"

    def __post_init__(self) -> None:
        """Raise DataError where a scale is negative: a file may say anything."""
        if (self.scale < 0.0).any():
            raise DataError(f"zscore: scale: found {self.scale.min():g}, expected 0 or more")

    @classmethod
    def fit(cls, features: np.ndarray) -> Self:
        mean, variance = mean_and_variance(features)
        return cls(mean, np.sqrt(variance))

    def _values(self, x: np.ndarray, columns: slice) -> np.ndarray:
        scale = self.scale[columns]
        x -= self.mean[columns]
        x /= np.where(scale > 0.0, scale, np.inf)
        # a value far from all that training saw may lie beyond float32
        return np.clip(x, -LARGEST, LARGEST, out=x)
