"""s = w . x + sum over kept pairs of features of c_kj x_k x_j, x standardised."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.errors import DataError
from letorbench.kernels import products
from letorbench.models.base import Model, array
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class Quadratic(Model, kind="quadratic"):
    """x = (features - mean) / scale.

    mean, scale, weights (n_features,) float64; starts (n_features + 1,) int64: feature k's
    products are starts[k]:starts[k + 1] of second (n_products,) int64, the other feature,
    j >= k, and coefficients (n_products,) float64.
    """

    mean: np.ndarray = array("n_features")
    scale: np.ndarray = array("n_features")
    weights: np.ndarray = array("n_features")
    starts: np.ndarray = array("n_features+1", dtype=np.int64)
    second: np.ndarray = array("n_products", dtype=np.int64, below="n_features")
    coefficients: np.ndarray = array("n_products")

    def _check(self) -> None:
        starts, n_products = self.starts, len(self.second)
        if starts[0] != 0 or starts[-1] != n_products or (np.diff(starts) < 0).any():
            raise DataError(
                f"quadratic model: starts: found {starts[0]} to {starts[-1]}, expected ascending "
                f"numbers from 0 to {n_products}"
            )

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            products.quadratic(
                features, self.mean, self.scale, self.weights, self.starts, self.second,
                self.coefficients, start, stop, scores,
            )  # fmt: skip

        in_threads(part, len(features), least=products.LANES)
        return scores
