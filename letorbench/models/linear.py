"""s = w . x + b."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import scoring
from letorbench.models.base import Model, array
from letorbench.threads import in_threads


@dataclass(frozen=True, eq=False)
class Linear(Model, kind="linear"):
    """weights (n_features,) float64, bias a scalar float64."""

    weights: np.ndarray = array("n_features")
    bias: float = array(default=0.0)

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            scoring.linear(features[start:stop], self.weights, self.bias, scores[start:stop])

        in_threads(part, len(features), least=4096)
        return scores
