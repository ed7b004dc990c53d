"""Quadratic scores, and scores of a query's vector and a document's vector.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012. Equation 4
has a linear part and a coefficient for each kept product of two features. The products are never
stored: they are formed as they are summed. Equations 2 and 3 map a query's vector y and a
document's vector z into one small space: f1 = sigma(A'y)' B'z and f2 = -|A'y - B'z|^2 / tau. A
document's features are [y | z]. "Typically we choose the sigmoid or tanh functions" for sigma.
"""

from dataclasses import dataclass
from functools import partial
from typing import ClassVar, NamedTuple, Self

import numpy as np

from letorbench.compiled.arithmetic import sigmoid
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import parallel_for
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, UsageError
from letorbench.features.columns import row_blocks
from letorbench.models.base import FamilySettings, Model, ParametricFamily, array
from letorbench.models.linear import LinearFamily

#: documents whose correlations of products are summed together
ROWS = 8192
#: a product whose variance is below this fraction of its mean square is constant
NOISE = 1e-9
#: documents that are scored side by side
LANES = 16
#: documents whose gradients are summed side by side
GRADIENT_LANES = 128


class Products(NamedTuple):
    """The kept products x_k x_j, j >= k, of x = (features - mean) / scale, as in `Quadratic`."""

    mean: np.ndarray
    scale: np.ndarray
    starts: np.ndarray
    second: np.ndarray


@dataclass(frozen=True, eq=False)
class Quadratic(Model):
    """The score s = w . x + sum over the kept products of c_kj x_k x_j, x standardised."""

    kind = "quadratic"

    mean: np.ndarray = array("n_features")
    scale: np.ndarray = array("n_features")
    weights: np.ndarray = array("n_features")
    # feature k's products are starts[k]:starts[k + 1] of the next two, with other features j >= k
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

    docs_a_thread = LANES

    def _score(self, features: np.ndarray) -> np.ndarray:
        products = Products(self.mean, self.scale, self.starts, self.second)
        return _score_rows(features, products, self.weights, self.coefficients)


@dataclass(frozen=True, eq=False)
class QuadraticFamily(ParametricFamily):
    """The quadratic models of products that correlate with the label, of standardised features.

    theta holds w (n_features,), then a coefficient for each kept product. The equation's alpha_0 is
    left out: neither rankings nor losses of score differences depend on it.
    """

    name = "quadratic"
    formula = "s = w . x + sum over kept products of c_kj x_k x_j"

    products: Products

    @classmethod
    def of(cls, train: QuerySet, settings: FamilySettings) -> Self:
        """Keep the products whose |Pearson correlation| with the label is at least rho."""
        linear = LinearFamily.standardised(train.features)
        correlation = product_correlations(train, linear.mean, linear.scale)
        kept = np.triu(~np.isnan(correlation) & (np.abs(correlation) >= settings.rho))
        starts = np.append(0, np.cumsum(kept.sum(axis=1))).astype(np.int64)
        second = np.ascontiguousarray(np.nonzero(kept)[1])
        return cls(Products(linear.mean, linear.scale, starts, second))

    @property
    def n_features(self) -> int:
        return len(self.products.mean)

    @property
    def n_parameters(self) -> int:
        return self.n_features + len(self.products.second)

    def model(self, theta: np.ndarray) -> Quadratic:
        w, c = np.split(theta, [self.n_features])
        p = self.products
        return Quadratic(p.mean, p.scale, w.copy(), p.starts, p.second, c.copy())

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return the standardised features; their products stay unwhitened."""
        return LinearFamily(self.products.mean, self.products.scale).design(features)

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        linear = LinearFamily(self.products.mean, self.products.scale)
        w = linear.gradient(theta, features, score_gradient)
        sums = partial(_sum_products, features, self.products, score_gradient)
        c = parallel_for(sums, self.n_features, cost=np.diff(self.products.starts) + 1)
        return np.concatenate([w, *c])


def product_correlations(train: QuerySet, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """Return the Pearson correlations of x_k x_j with the label, NaN if one of them is constant."""
    n_features = train.n_features
    # three Gram matrices suffice: of x, of x weighted by the label, and of x squared
    plain, weighted, squared = np.zeros((3, n_features, n_features))
    label = train.labels - train.labels.mean()
    for rows in row_blocks(train.n_docs, ROWS):
        x = (train.features[rows] - mean) / scale
        plain += x.T @ x
        weighted += x.T @ (label[rows, None] * x)
        np.square(x, out=x)
        squared += x.T @ x
    n = train.n_docs
    variance = squared / n - np.square(plain / n)
    varies = (variance > NOISE * squared / n) & (label.std() > 0.0)
    deviation = np.sqrt(np.where(varies, variance, 1.0)) * (label.std() or 1.0)
    return np.where(varies, weighted / n / deviation, np.nan)


@kernel()
def _standardise(features: np.ndarray, products: Products, begin: int, x: np.ndarray) -> None:
    """x[k, lane] = feature k of document begin + lane, standardised; 0 after the last document."""
    # with a row for each feature, a product is an operation on neighbouring numbers
    mean, scale = products.mean, products.scale
    for lane in range(x.shape[1]):
        if begin + lane < len(features):
            row = features[begin + lane]
            for k in range(len(mean)):
                x[k, lane] = (row[k] - mean[k]) / scale[k]
        else:
            x[:, lane] = 0.0


@kernel()
def _score_rows(
    features: np.ndarray, products: Products, weights: np.ndarray, coefficients: np.ndarray
) -> np.ndarray:
    """scores[i] = sum_k x_k (w_k + sum over the kept j of c_kj x_j), in one order."""
    starts, second = products.starts, products.second
    n_docs, n_features = features.shape
    scores, x = np.empty(n_docs), np.empty((n_features, LANES))
    total, inner = np.empty(LANES), np.empty(LANES)
    for first in range(0, n_docs, LANES):
        _standardise(features, products, first, x)
        total[:] = 0.0
        for k in range(n_features):
            x_k = x[k]
            w = weights[k]
            for lane in range(LANES):
                inner[lane] = w
            for p in range(starts[k], starts[k + 1]):
                c, other = coefficients[p], x[second[p]]
                for lane in range(LANES):
                    inner[lane] += c * other[lane]
            for lane in range(LANES):
                total[lane] += x_k[lane] * inner[lane]
        for i in range(first, min(first + LANES, n_docs)):
            scores[i] = total[i - first]
    return scores


@kernel(reorder=True)
def _sum_products(
    features: np.ndarray, products: Products, score_gradient: np.ndarray, first: int, last: int
) -> np.ndarray:
    """Return sum_i score_gradient_i x_k x_j of each product of k = first..last - 1."""
    starts, second = products.starts, products.second
    n_docs, n_features = features.shape
    x = np.empty((n_features, GRADIENT_LANES))
    pulled = np.empty(GRADIENT_LANES)
    sums = np.zeros(starts[last] - starts[first])
    for begin in range(0, n_docs, GRADIENT_LANES):
        _standardise(features, products, begin, x)
        here = min(GRADIENT_LANES, n_docs - begin)
        for k in range(first, last):
            if starts[k] == starts[k + 1]:
                continue
            x_k = x[k]
            for lane in range(here):
                pulled[lane] = score_gradient[begin + lane] * x_k[lane]
            pulled[here:] = 0.0
            for p in range(starts[k], starts[k + 1]):
                other, total = x[second[p]], 0.0
                for lane in range(GRADIENT_LANES):
                    total += pulled[lane] * other[lane]
                sums[p - starts[first]] += total
    return sums


@dataclass(frozen=True, eq=False)
class Separate(Model):
    """The score f1 (tau = 0) or f2 (tau > 0), with the transposes of the paper's A and B."""

    kind = "separate"
    tanh: ClassVar[bool] = False  # for sigma, instead of the sigmoid

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
        return 2.0 * sigmoid(2.0 * t) - 1.0 if self.tanh else sigmoid(t)


class SeparateTanh(Separate):
    """The score f1 with tanh for sigma; tau is 0."""

    kind = "separate-tanh"
    tanh = True


@dataclass(frozen=True, eq=False)
class Bilinear(ParametricFamily):
    """The models f1 (tau = 0) or f2 (tau > 0); theta holds A (n1, d), then B (n2, d), by row."""

    name = "bilinear"
    formula = "s = sigma(A'y)' B'z, x = [y | z], a query's and a document's vector"
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
            slope = 1.0 - sigma * sigma if at.tanh else sigma * (1.0 - sigma)
            by_a, by_b = g * b * slope, g * sigma
        else:
            by_b = 2.0 / self.tau * g * (a - b)
            by_a = -by_b
        A = _outer_sums(features, 0, self.n1, by_a)
        B = _outer_sums(features, self.n1, self.n2, by_b)
        return np.concatenate([A.ravel(), B.ravel()])


class BilinearTanh(Bilinear):
    """The models f1 with tanh."""

    name = "bilinear-tanh"
    formula = "s = tanh(A'y)' B'z, x = [y | z], a query's and a document's vector"
    models = SeparateTanh


class Distance(Bilinear):
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
