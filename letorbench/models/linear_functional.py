"""f(x) = w . x, or w . (x - mean) / scale, with an intercept where one is asked for."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.models import Linear
from letorbench.models.functional import Functional
from letorbench.models.weighted_rows import weighted_rows


@dataclass(frozen=True, eq=False)
class LinearFunctional(Functional):
    """theta = w (n_features,), followed by the intercept, which no prior holds.

    mean, scale: (n_features,) float64, see `moments`.
    """

    mean: np.ndarray
    scale: np.ndarray
    intercept: bool = False

    @staticmethod
    def plain(n_features: int, intercept: bool = False) -> LinearFunctional:
        """Of the features as they come."""
        return LinearFunctional(np.zeros(n_features), np.ones(n_features), intercept)

    @property
    def n_parameters(self) -> int:
        return len(self.mean) + self.intercept

    def penalised(self) -> np.ndarray:
        return np.append(np.ones(len(self.mean)), np.zeros(int(self.intercept)))

    def model(self, theta: np.ndarray) -> Linear:
        w = theta[: len(self.mean)] / self.scale
        b = float(theta[-1]) if self.intercept else 0.0
        return Linear(w, b - float(w @ self.mean))

    def pull_back(
        self, theta: np.ndarray, features: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        total = gradient.sum()
        slope = (weighted_rows(features, gradient) - total * self.mean) / self.scale
        return np.append(slope, total) if self.intercept else slope


def moments(features: np.ndarray, rows: int = 65_536) -> tuple[np.ndarray, np.ndarray]:
    """Mean and standard deviation of each column (n_features,) float64, blocks of rows at a time.

    The deviation of a constant column is given as 1: standardised, it is 0 everywhere.
    """
    mean = features.mean(axis=0, dtype=np.float64)
    squares = np.zeros(features.shape[1])
    for start in range(0, len(features), rows):
        squares += np.square(features[start : start + rows] - mean).sum(axis=0)
    scale = np.sqrt(squares / max(1, len(features)))
    constant = np.ptp(features, axis=0) == 0.0 if len(features) else np.ones_like(scale, bool)
    return mean, np.where(constant | (scale == 0.0), 1.0, scale)
