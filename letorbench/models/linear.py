"""Linear scores, s = w . x + b, and the weighted sums of rows that are their gradients."""

from dataclasses import dataclass
from functools import partial

import numpy as np

from letorbench.compiled.arithmetic import dot
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for
from letorbench.datasets.queryset import QuerySet
from letorbench.features.columns import mean_and_scale, mean_and_variance
from letorbench.models.base import FamilySettings, Model, ParametricFamily, array

#: the standard deviation of a rescaled feature is 1 / SPREAD
SPREAD = 4.0
#: the largest range of an ordinary feature
LARGE = 10.0
#: the rows of a partial sum, whatever the number of threads
BLOCK = 1024


@dataclass(frozen=True, eq=False)
class Linear(Model):
    """The score s = w . x + b."""

    kind = "linear"

    weights: np.ndarray = array("n_features")
    bias: float = array(default=0.0)

    docs_a_thread = 4096

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores = np.empty(len(features))
        score_rows(features, self.weights, self.bias, scores)
        return scores


@dataclass(frozen=True, eq=False)
class LinearFamily(ParametricFamily):
    """The linear models w . (x - mean) / scale, with an intercept on request.

    theta holds w (n_features,), then the intercept, which no prior penalises.
    """

    name = "linear"
    formula = "s = w . x + b"

    mean: np.ndarray
    scale: np.ndarray
    intercept: bool = False

    @classmethod
    def of(cls, train: QuerySet, settings: FamilySettings) -> "LinearFamily":
        make = cls.standardised if settings.standardise else cls.conditioned
        return make(train.features, settings.intercept)

    @staticmethod
    def plain(n_features: int, intercept: bool = False) -> "LinearFamily":
        """Return the linear models of unscaled features."""
        return LinearFamily(np.zeros(n_features), np.ones(n_features), intercept)

    @staticmethod
    def conditioned(
        features: np.ndarray, intercept: bool = False, shift_invariant: bool = False
    ) -> "LinearFamily":
        """Return the linear models of the features in units that suit a solver.

        A feature of `ordinary` size keeps its unit, so nothing changes for features between 0 and
        1. Another one is centred and scaled to the standard deviation 1/4, about that of a feature
        spread over [0, 1]. The models are those of `plain`, and so is the objective except for a
        prior: it is on the weights in these units, because one l2 cannot suit features of 1e-6 and
        of 1e9. Features can be centred only with an intercept or if the loss is `shift_invariant`,
        unchanged when all scores of a query change by the same number.
        """
        usual = ordinary(features)
        if usual.all():
            return LinearFamily.plain(features.shape[1], intercept)
        mean, variance = mean_and_variance(features)
        centred = intercept or shift_invariant
        spread = variance if centred else variance + mean**2
        unit = SPREAD * np.sqrt(spread)
        return LinearFamily(
            np.where(usual | (not centred), 0.0, mean),
            np.where(usual | (unit == 0.0), 1.0, unit),
            intercept,
        )

    @staticmethod
    def standardised(features: np.ndarray, intercept: bool = False) -> "LinearFamily":
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
        return Linear(w, b - dot(self.mean, w))

    def design(self, features: np.ndarray) -> np.ndarray:
        x = (features - self.mean) / self.scale
        return np.column_stack([x, np.ones(len(x))]) if self.intercept else x

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        by_bias = score_gradient.sum()
        slope = (weighted_rows(features, score_gradient) - by_bias * self.mean) / self.scale
        return np.append(slope, by_bias) if self.intercept else slope


def ordinary(features: np.ndarray) -> np.ndarray:
    """Return which features have a range from 0.1 to 10 that is no small part of their values."""
    if len(features) == 0:
        return np.ones(features.shape[1], dtype=bool)
    low, high = features.min(axis=0).astype(np.float64), features.max(axis=0).astype(np.float64)
    spread, largest = high - low, np.maximum(-low, high)
    usual = (spread >= 0.1) & (spread <= LARGE) & (largest <= LARGE * spread)
    return usual | ((spread == 0.0) & (largest <= LARGE))


@kernel(reorder=True)
def score_rows(features: np.ndarray, weights: np.ndarray, bias: float, scores: np.ndarray) -> None:
    """scores[i] = bias + features[i] . weights, in one order: equal documents score equally."""
    for i in range(features.shape[0]):
        total = 0.0
        for k in range(features.shape[1]):
            total += np.float64(features[i, k]) * weights[k]
        scores[i] = bias + total


def products(rows: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return rows @ weights, (n,) float64, with the same bits for any number of threads."""
    out = np.empty(len(rows))
    rows, weights = (np.ascontiguousarray(each, dtype=np.float64) for each in (rows, weights))
    score_rows(rows, weights, 0.0, out)
    return out


def weighted_rows(features: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return weights @ features, (n_features,), with the same bits for any number of threads."""
    n_blocks = -(-len(features) // BLOCK)
    sums = parallel_for(partial(_sum_blocks, features, weights), n_blocks, least=4)
    return np.concatenate(sums).sum(axis=0)


@kernel(reorder=True)
def _sum_blocks(features: np.ndarray, weights: np.ndarray, first: int, last: int) -> np.ndarray:
    """Sum weights[i] features[i] over the rows of each block, in their order in memory."""
    n_features = features.shape[1]
    sums = np.zeros((last - first, n_features))
    for b in range(first, last):
        total = sums[b - first]
        for i in range(b * BLOCK, min((b + 1) * BLOCK, features.shape[0])):
            if weights[i] == 0.0:
                continue
            weight, row = weights[i], features[i]
            for k in range(n_features):
                total[k] += weight * row[k]
    return sums
