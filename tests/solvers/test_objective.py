"""What the solvers minimise: one look at the features, and the curvature that l2 is measured in."""

from dataclasses import dataclass, replace

import numpy as np
import pytest
from conftest import random_queries

from letorbench.losses import CustomLoss, ValueAndGradient, loss
from letorbench.models import LinearFamily
from letorbench.solvers.descent import LBFGS, LineSearch
from letorbench.solvers.objective import PRIMES, mean_curvature, ranks, signs


@dataclass
class Quadratic:
    """theta . H theta / 2 + slope . theta, with scores X theta; the slope tells features apart."""

    H: np.ndarray
    X: np.ndarray
    slope: np.ndarray
    free: tuple[int, ...] = ()  # what the prior does not penalise

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.0, self.H @ theta + self.slope

    def scores(self, theta: np.ndarray) -> np.ndarray:
        return self.X @ theta

    @property
    def family(self) -> "Quadratic":
        return self

    def penalised(self) -> np.ndarray:
        return np.where(np.isin(np.arange(len(self.H)), self.free), 0.0, 1.0)


def curvature_of(H: np.ndarray, X: np.ndarray, free: tuple[int, ...] = ()) -> float:
    return mean_curvature(Quadratic(H, X, X.sum(axis=0), free), np.zeros(len(H)))


@pytest.mark.parametrize("n", [1, 5, 45])
def test_the_curvature_is_the_mean_diagonal_of_the_hessian(n, rng):
    X = rng.standard_normal((300, n)) * rng.uniform(0.1, 3.0, n)
    H = X.T @ X / 300
    curvature = curvature_of(H, X)
    rank = ranks(Quadratic(H, X, X.sum(axis=0)), np.zeros(n))
    directions = [signs(prime, n)[rank] for prime in PRIMES]
    assert curvature == pytest.approx(np.mean([z @ H @ z for z in directions]) / n)
    assert curvature == pytest.approx(np.trace(H) / n, rel=0.5)


@pytest.mark.parametrize("n", [2, 45, 700])
def test_the_order_of_features_and_documents_does_not_matter(n, rng):
    X = rng.standard_normal((300, n)) * rng.uniform(0.1, 3.0, n)
    X[:, n // 2] = X[:, 0]  # equal features
    X[:, n // 3] = 0.0
    expected = curvature_of(X.T @ X, X)
    for _ in range(5):
        again = X[rng.permutation(300)][:, rng.permutation(n)]
        assert curvature_of(again.T @ again, again) == pytest.approx(expected, rel=1e-9)


def test_what_does_not_curve_or_has_no_prior(rng):
    X = rng.standard_normal((300, 4)) * [1.0, 1.0, 1.0, 1e6]
    some = curvature_of(X.T @ X / 300, X, free=(3,))
    assert some == pytest.approx(1.0, rel=0.5)
    assert curvature_of(np.zeros((4, 4)), X) == 1.0
    assert curvature_of(np.eye(4), np.zeros((30, 4))) == 1.0
    assert curvature_of(np.eye(4), X, free=(0, 1, 2, 3)) == 1.0


@pytest.mark.parametrize("solver", [LBFGS(0.1, flat=1e-14), LineSearch(2000, l2=0.1)])
def test_features_or_a_loss_times_a_constant_have_the_same_scores(solver, rng):
    def times(scores, queries):
        value, gradient = loss("listnet")(scores, queries)
        return ValueAndGradient(8.0 * value, 8.0 * gradient)

    of = CustomLoss("times", "", times)
    queries = random_queries(rng, [10] * 30)
    family = LinearFamily.plain(queries.n_features)
    scaled = replace(queries, features=queries.features * np.float32(8.0))
    fit = solver.fit(family, loss("listnet"), queries, None, rng)
    again = solver.fit(family, of, scaled, None, rng)
    np.testing.assert_allclose(
        again.model.predict(scaled.features), fit.model.predict(queries.features), atol=1e-3
    )
