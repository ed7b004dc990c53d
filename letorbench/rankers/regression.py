"""Least squares on the labels: LETOR's "Regression" and "Regression+L2reg"."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.models import Linear
from letorbench.rankers.base import Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

#: eigenvalues of the correlation matrix below this share of the largest are rounding noise
NOISE = 1e-10


@dataclass
class Regression(Ranker):
    """Linear least squares with an intercept, pointwise, nothing tuned.

    min over w, b of sum_i (w . x_i + b - y_i)^2 + l2 |w|^2 over all documents of all queries:
    LETOR 3.0's "Regression" baseline, and its "Regression+L2reg" where l2 > 0 (Qin, Liu, Xu,
    Li, "LETOR: A benchmark collection for research on learning to rank for information
    retrieval", Information Retrieval 2010).

    l2:     the penalty, in the units of the features as given; 0 is plain least squares.
    target: "label" (y = r) or "gain" (y = 2^r - 1).

    Where the features are collinear or constant the smallest solution is taken, in units in
    which each feature has variance one.
    """

    name = "regression"
    title = "Linear least squares on the labels"
    paper = "Qin, Liu, Xu, Li: LETOR: A benchmark collection ..., Information Retrieval 2010"
    formula = "sum_i (w.x_i + b - y_i)^2 + l2 |w|^2, y = r or 2^r - 1"

    l2: float = 0.0
    target: str = "label"

    def learn(
        self, train: QuerySet, validation: Validation | None, rng: np.random.Generator
    ) -> Learned:
        if self.target not in ("label", "gain"):
            raise UsageError(f"regression: found target={self.target}, expected label or gain")
        if self.l2 < 0:
            raise UsageError(f"regression: found l2={self.l2}, expected 0 or more")
        labels = train.labels.astype(np.float64)
        y = labels if self.target == "label" else np.exp2(labels) - 1.0
        mean = train.features.mean(axis=0, dtype=np.float64)
        covariance, correlation = _moments(train.features, mean, y - y.mean())
        covariance[np.diag_indices_from(covariance)] += self.l2
        scale = np.sqrt(np.diag(covariance))
        scale[scale == 0.0] = 1.0
        w = _smallest_solution(covariance / np.outer(scale, scale), correlation / scale) / scale
        return Learned(Linear(w, float(y.mean() - mean @ w)))


def _moments(
    features: np.ndarray, mean: np.ndarray, y: np.ndarray, rows: int = 65_536
) -> tuple[np.ndarray, np.ndarray]:
    """Sums of (x - mean)(x - mean)^T and (x - mean) y, a block of rows at a time in float64."""
    n_features = features.shape[1]
    covariance, correlation = np.zeros((n_features, n_features)), np.zeros(n_features)
    for start in range(0, len(features), rows):
        block = features[start : start + rows] - mean
        covariance += block.T @ block
        correlation += block.T @ y[start : start + rows]
    return covariance, correlation


def _smallest_solution(matrix: np.ndarray, target: np.ndarray) -> np.ndarray:
    """The least-norm x with matrix x = target, matrix symmetric and positive semidefinite."""
    values, vectors = np.linalg.eigh(matrix)
    kept = values > NOISE * values.max(initial=0.0)
    return vectors[:, kept] @ ((vectors[:, kept].T @ target) / values[kept])
