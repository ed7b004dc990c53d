"""Scores of a query's vector y and a document's vector z, both mapped into one small space.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equations 2
and 3: f1 = sigma(A'y)' B'z and f2 = -|A'y - B'z|^2 / tau. A document's features are [y | z].
"Typically we choose the sigmoid or tanh functions" for sigma.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Self

import numpy as np

from letorbench.compiled.arithmetic import sigmoid
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.models.base import Model, array
from letorbench.models.parametric import FamilySettings, ParametricFamily


@dataclass(frozen=True, eq=False)
class Separate(Model):
    """The score f1 (tau = 0) or f2 (tau > 0), with the transposes of the paper's A and B."""

    kind = "separate"

    A: np.ndarray = array("n1", "d")
    B: np.ndarray = array("n2", "d")
    tau: float = array()

    docs_a_thread = 512

    @property
    def n_features(self) -> int:
        return len(self.A) + len(self.B)

    def _score(self, features: np.ndarray) -> np.ndarray:
        a, b = _embedded(features, 0, self.A), _embedded(features, len(self.A), self.B)
        terms = self._sigma(a) * b if self.tau == 0.0 else -np.square(a - b) / self.tau
        scores = np.zeros(len(features))
        for h in range(terms.shape[1]):  # one order of summing for every number of rows
            scores += terms[:, h]
        return scores

    def _sigma(self, t: np.ndarray) -> np.ndarray:
        return sigmoid(t)

    def _slope(self, sigma: np.ndarray) -> np.ndarray:
        return sigma * (1.0 - sigma)


class SeparateTanh(Separate):
    """The score f1 with tanh for sigma; tau is 0."""

    kind = "separate-tanh"

    def _sigma(self, t: np.ndarray) -> np.ndarray:
        return 2.0 * sigmoid(2.0 * t) - 1.0

    def _slope(self, sigma: np.ndarray) -> np.ndarray:
        return 1.0 - sigma * sigma


@dataclass(frozen=True, eq=False)
class SeparateFamily(ParametricFamily):
    """The models f1 (tau = 0) or f2 (tau > 0); theta holds A (n1, d), then B (n2, d), by row."""

    drawn = True
    auto_features = "zscore"  # a normalisation by query would erase the query's vector
    models: ClassVar[type[Separate]] = Separate

    n1: int
    n2: int
    d: int
    tau: float

    @classmethod
    def of(cls, train: QuerySet, settings: FamilySettings) -> Self:
        n_features = train.n_features
        n1 = settings.query_features or n_features // 2
        if not 0 < n1 < n_features:
            raise UsageError(
                f"found query_features={n1} of {n_features} features, expected 1 to "
                f"{n_features - 1}: the other features are the document's vector"
            )
        tau = settings.tau if cls is Distance else 0.0
        return cls(n1, n_features - n1, settings.dimensions, tau)

    @property
    def n_parameters(self) -> int:
        return (self.n1 + self.n2) * self.d

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Draw uniformly within 1 / sqrt(inputs): at zero every derivative is zero."""
        bound = np.repeat([self.n1**-0.5, self.n2**-0.5], [self.n1 * self.d, self.n2 * self.d])
        return bound * rng.uniform(-1.0, 1.0, self.n_parameters)

    def model(self, theta: np.ndarray) -> Separate:
        A, B = np.split(theta, [self.n1 * self.d])
        return self.models(A.reshape(self.n1, self.d), B.reshape(self.n2, self.d), self.tau)

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        at = self.model(theta)
        a, b = _embedded(features, 0, at.A), _embedded(features, self.n1, at.B)
        g = score_gradient[:, None]
        if self.tau == 0.0:
            sigma = at._sigma(a)
            by_a, by_b = g * b * at._slope(sigma), g * sigma
        else:
            by_b = 2.0 / self.tau * g * (a - b)
            by_a = -by_b
        A = _outer_sums(features, 0, self.n1, by_a)
        B = _outer_sums(features, self.n1, self.n2, by_b)
        return np.concatenate([A.ravel(), B.ravel()])


class Bilinear(SeparateFamily):
    """The models f1 with the sigmoid."""

    name = "bilinear"
    formula = "s = sigma(A'y)' B'z, x = [y | z], a query's and a document's vector"


class BilinearTanh(SeparateFamily):
    """The models f1 with tanh."""

    name = "bilinear-tanh"
    formula = "s = tanh(A'y)' B'z, x = [y | z], a query's and a document's vector"
    models = SeparateTanh


class Distance(SeparateFamily):
    """The models f2."""

    name = "distance"
    formula = "s = -|A'y - B'z|^2 / tau, x = [y | z], a query's and a document's vector"


def _embedded(features: np.ndarray, column: int, matrix: np.ndarray) -> np.ndarray:
    """Return (n_docs, d): the columns from `column` on times matrix (n_columns, d)."""
    embed = partial(_embed, features, column, matrix)
    return np.concatenate(parallel_for(embed, len(features), least=512))


def _outer_sums(features: np.ndarray, column: int, n: int, gradient: np.ndarray) -> np.ndarray:
    """Return (n, d): the n columns from `column` on, transposed, times gradient (n_docs, d)."""
    gradient = np.ascontiguousarray(gradient)
    return np.concatenate(parallel_for(partial(_sum_outer, features, column, gradient), n, 16))


@kernel()
def _embed(
    features: np.ndarray, column: int, matrix: np.ndarray, begin: int, end: int
) -> np.ndarray:
    """Return sum_k features[i, column + k] matrix[k] of the documents i = begin..end - 1."""
    out = np.zeros((end - begin, matrix.shape[1]))
    for i in range(begin, end):
        for k in range(matrix.shape[0]):
            value = features[i, column + k]  # often 0: in the paper's data, bags of words
            if value != 0.0:
                for h in range(matrix.shape[1]):
                    out[i - begin, h] += value * matrix[k, h]
    return out


@kernel()
def _sum_outer(
    features: np.ndarray, column: int, gradient: np.ndarray, first: int, last: int
) -> np.ndarray:
    """Return sum_i features[i, column + k] gradient[i] of each k = first..last - 1."""
    sums = np.zeros((last - first, gradient.shape[1]))
    for i in range(features.shape[0]):
        for k in range(first, last):
            value = features[i, column + k]
            if value != 0.0:
                for h in range(gradient.shape[1]):
                    sums[k - first, h] += value * gradient[i, h]
    return sums
