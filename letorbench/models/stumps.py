"""s = sum over t of alpha_t f_t(x), f_t a decision stump with values 0 and 1."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import scoring
from letorbench.models.base import Model
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class StumpEnsemble(Model, kind="stumps"):
    """T stumps f_t(x) = 1[x_k > theta], or 1[x_k <= theta] where `above` is false.

    feature (T,) int64, threshold (T,) float64, above (T,) bool, alpha (T,) float64.
    """

    feature: np.ndarray
    threshold: np.ndarray
    above: np.ndarray
    alpha: np.ndarray

    def predict(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            scoring.stumps(
                features[start:stop],
                self.feature,
                self.threshold,
                self.above,
                self.alpha,
                scores[start:stop],
            )

        in_threads(part, len(features), least=4096)
        return scores
