"""f(x) = w . x + x' C x, of the products that go with the label (the functionals paper, eq. 4)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import products
from letorbench.models import Quadratic
from letorbench.models.functional import Functional
from letorbench.models.linear_functional import LinearFunctional, moments
from letorbench.threads import in_threads

#: documents whose products' sums are taken at a time
ROWS = 8192
#: a product whose variance is below this share of its mean square is constant but for rounding
NOISE = 1e-9


@dataclass(frozen=True, eq=False)
class QuadraticFunctional(Functional):
    """theta = w (n_features,), then a coefficient for each kept product x_k x_j, j >= k.

    x is standardised by `moments` of the training set. alpha_0 of the equation is left out: no
    ranking and no loss of differences sees it. starts, second: see `Quadratic`.
    """

    linear: LinearFunctional
    starts: np.ndarray
    second: np.ndarray

    @staticmethod
    def of(train: QuerySet, rho: float) -> QuadraticFunctional:
        """Keep the products whose |Pearson correlation| to the label is at least rho.

        A product that does not vary has no correlation and is left out for any rho.
        """
        mean, scale = moments(train.features)
        correlation = product_correlations(train, mean, scale)
        kept = np.triu(~np.isnan(correlation) & (np.abs(correlation) >= rho))
        starts = np.append(0, np.cumsum(kept.sum(axis=1))).astype(np.int64)
        return QuadraticFunctional(LinearFunctional(mean, scale), starts, np.nonzero(kept)[1])

    @property
    def n_products(self) -> int:
        return len(self.second)

    @property
    def n_parameters(self) -> int:
        return self.linear.n_parameters + self.n_products

    def model(self, theta: np.ndarray) -> Quadratic:
        w, c = np.split(theta, [self.linear.n_parameters])
        return Quadratic(
            self.linear.mean, self.linear.scale, w.copy(), self.starts, self.second, c.copy()
        )

    def pull_back(
        self, theta: np.ndarray, features: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        linear = self.linear
        w = linear.pull_back(theta, features, gradient)
        c = np.empty(self.n_products)

        def part(first: int, last: int) -> None:
            products.product_sums(
                features, linear.mean, linear.scale, self.starts, self.second, gradient,
                first, last, c,
            )  # fmt: skip

        in_threads(part, linear.n_parameters, cost=np.diff(self.starts) + 1)
        return np.concatenate([w, c])


def product_correlations(train: QuerySet, mean: np.ndarray, scale: np.ndarray) -> np.ndarray:
    """(n_features, n_features) Pearson correlation of x_k x_j with the label; NaN if constant.

    From three Gram matrices, of x, of x weighted by the label, of x squared: no product is
    ever written down.
    """
    n_features = train.n_features
    plain, weighted, squared = np.zeros((3, n_features, n_features))
    label = train.labels - train.labels.mean()
    for begin in range(0, train.n_docs, ROWS):
        rows = slice(begin, begin + ROWS)
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
