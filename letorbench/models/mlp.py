"""s = sum over h of v_h tanh(w_h . x + b_h): a net of two layers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import nets
from letorbench.models.base import Model, array
from letorbench.threads import in_threads

#: documents whose hidden units are in memory at a time
ROWS = 4096


@dataclass(frozen=True, eq=False)
class Net(Model, kind="net"):
    """One hidden layer of H tanh units and a linear output.

    weights (H, n_features) float32, bias (H,) float64, output (H,) float64.
    """

    weights: np.ndarray = array("n_units", "n_features", dtype=np.float32)
    bias: np.ndarray = array("n_units")
    output: np.ndarray = array("n_units")

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))

        def part(start: int, stop: int) -> None:
            hidden = np.empty((min(ROWS, stop - start), len(self.bias)))
            for begin in range(start, stop, ROWS):
                end = min(begin + ROWS, stop)
                nets.forward(
                    features, begin, end, self.weights, self.bias, self.output,
                    hidden, scores[begin:end],
                )  # fmt: skip

        in_threads(part, len(features), least=ROWS)
        return scores
