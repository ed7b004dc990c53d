"""s = w . x + sum over kept pairs of features of c_kj x_k x_j, x standardised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import products
from letorbench.models.base import Model
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class Quadratic(Model, kind="quadratic"):
    """x = (features - mean) / scale.

    mean, scale, weights (n_features,) float64; starts (n_features + 1,) int64: feature k's
    products are starts[k]:starts[k + 1] of second (n_products,) int64, the other feature,
    j >= k, and coefficients (n_products,) float64.
    """

    mean: np.ndarray
    scale: np.ndarray
    weights: np.ndarray
    starts: np.ndarray
    second: np.ndarray
    coefficients: np.ndarray

    def predict(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            products.quadratic(
                features, self.mean, self.scale, self.weights, self.starts, self.second,
                self.coefficients, start, stop, scores,
            )  # fmt: skip

        in_threads(part, len(features), least=products.LANES)
        return scores
