"""Scores of a query's vector y and a document's vector z, each mapped into one small space."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.kernels import bags
from letorbench.models.base import Model, array
from letorbench.threads import in_threads


def embedded(features: np.ndarray, column: int, matrix: np.ndarray) -> np.ndarray:
    """(n_docs, d) the columns from `column` on times matrix (n_columns, d)."""
    out = np.empty((len(features), matrix.shape[1]))

    def part(start: int, stop: int) -> None:
        bags.embed(features, column, matrix, start, stop, out)

    in_threads(part, len(features), least=512)
    return out


def sigmoid(t: np.ndarray) -> np.ndarray:
    e = np.exp(-np.abs(t))
    return np.where(t >= 0.0, 1.0, e) / (1.0 + e)


@dataclass(frozen=True, eq=False)
class Separate(Model, kind="separate"):
    """Features [y | z]: y the first n1 columns, z the other n2.

    A (n1, d), B (n2, d) float64, the transposes of the paper's. tau 0: f1 = sigma(A'y)' B'z;
    tau > 0: f2 = -|A'y - B'z|^2 / tau (the functionals paper, equations 2 and 3).
    """

    A: np.ndarray = array("n1", "d")
    B: np.ndarray = array("n2", "d")
    tau: float = array()

    @property
    def n_features(self) -> int:
        return len(self.A) + len(self.B)

    def _score(self, features: np.ndarray) -> np.ndarray:
        a, b = embedded(features, 0, self.A), embedded(features, len(self.A), self.B)
        terms = sigmoid(a) * b if self.tau == 0.0 else -np.square(a - b) / self.tau
        scores = np.zeros(len(features))
        for h in range(terms.shape[1]):  # in one order for every number of rows
            scores += terms[:, h]
        return scores
