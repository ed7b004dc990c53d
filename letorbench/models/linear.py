"""Linear scores, s = w . x + b."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.features.moments import mean_and_scale
from letorbench.jit import kernel
from letorbench.models.base import Model, array
from letorbench.models.parametric import ParametricFamily
from letorbench.models.weighted_rows import weighted_rows
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class Linear(Model, kind="linear"):
    """The score s = w . x + b.

    Parameters
    ----------
    weights : ndarray of shape (n_features,), float64
    bias : float

    Examples
    --------
    >>> import numpy as np
    >>> model = Linear(np.array([1.0, -2.0]), bias=0.5)
    >>> model.predict(np.array([[1, 0], [0, 1]], dtype=np.float32))
    array([ 1.5, -1.5])
    """

    weights: np.ndarray = array("n_features")
    bias: float = array(default=0.0)

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            _score_rows(features[start:stop], self.weights, self.bias, scores[start:stop])

        in_threads(part, len(features), least=4096)
        return scores


@dataclass(frozen=True, eq=False)
class LinearFamily(ParametricFamily):
    """The linear models w . (x - mean) / scale, with an intercept on request.

    theta holds w (n_features,), then the intercept, which no prior penalises.

    Parameters
    ----------
    mean, scale : ndarray of shape (n_features,), float64
    intercept : bool
    """

    mean: np.ndarray
    scale: np.ndarray
    intercept: bool = False

    @staticmethod
    def plain(n_features: int, intercept: bool = False) -> LinearFamily:
        """Return the linear models of the features as they are."""
        return LinearFamily(np.zeros(n_features), np.ones(n_features), intercept)

    @staticmethod
    def standardised(features: np.ndarray, intercept: bool = False) -> LinearFamily:
        """Return the linear models of the features with mean 0 and variance 1."""
        return LinearFamily(*mean_and_scale(features), intercept)

    @property
    def n_parameters(self) -> int:
        return len(self.mean) + self.intercept

    def penalised(self) -> np.ndarray:
        return np.append(np.ones(len(self.mean)), np.zeros(int(self.intercept)))

    def model(self, theta: np.ndarray) -> Linear:
        w = theta[: len(self.mean)] / self.scale
        b = float(theta[-1]) if self.intercept else 0.0
        return Linear(w, b - float(w @ self.mean))

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        total = score_gradient.sum()
        slope = (weighted_rows(features, score_gradient) - total * self.mean) / self.scale
        return np.append(slope, total) if self.intercept else slope


@kernel(reorder=True)
def _score_rows(
    features: np.ndarray, weights: np.ndarray, bias: float, scores: np.ndarray
) -> None:
    """scores[i] = bias + sum over k of features[i, k] weights[k].

    Every row is summed in the same order, so equal documents score equally.
    """
    for i in range(features.shape[0]):
        total = 0.0
        for k in range(features.shape[1]):
            total += np.float64(features[i, k]) * weights[k]
        scores[i] = bias + total
