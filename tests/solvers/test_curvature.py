"""The curvature that l2 is measured in: its value, and what it makes equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries

from letorbench.losses import CustomLoss, Loss, loss
from letorbench.losses.base import ValueAndGradient
from letorbench.models import LinearFamily
from letorbench.solvers.curvature import PRIMES, Function, mean_curvature, ranks, signs
from letorbench.solvers.gradient_descent import LineSearch
from letorbench.solvers.lbfgs import LBFGS


def times(factor: float, of: Loss) -> Loss:
    """A loss multiplied by a constant."""

    def function(scores, queries):
        value, gradient = of(scores, queries)
        return ValueAndGradient(factor * value, factor * gradient)

    return CustomLoss("scaled", "", function)


def gradient_and_scores(H: np.ndarray, X: np.ndarray) -> tuple[Function, Function]:
    """Of the loss theta . H theta / 2 + slope . theta, whose slope tells features apart."""
    slope = X.sum(axis=0)
    return lambda theta: H @ theta + slope, lambda theta: X @ theta


def curvature_of(H: np.ndarray, X: np.ndarray, penalised: np.ndarray) -> float:
    return mean_curvature(*gradient_and_scores(H, X), np.zeros(len(H)), penalised)


def ranks_of(H: np.ndarray, X: np.ndarray) -> np.ndarray:
    return ranks(*gradient_and_scores(H, X), np.zeros(len(H)))


def test_it_is_the_mean_diagonal_of_the_hessian(rng):
    for n in (1, 5, 45):
        X = rng.standard_normal((300, n)) * rng.uniform(0.1, 3.0, n)
        H = X.T @ X / 300
        found = curvature_of(H, X, np.ones(n))
        directions = [signs(prime, n)[ranks_of(H, X)] for prime in PRIMES]
        assert found == pytest.approx(np.mean([z @ H @ z for z in directions]) / n)
        assert found == pytest.approx(np.trace(H) / n, rel=0.5)


@pytest.mark.parametrize("n", [2, 5, 45, 700])
def test_the_order_of_features_and_documents_does_not_matter(n, rng):
    X = rng.standard_normal((300, n)) * rng.uniform(0.1, 3.0, n)
    X[:, n // 2] = X[:, 0]  # equal features
    X[:, n // 3] = 0.0
    expected = curvature_of(X.T @ X, X, np.ones(n))
    for _ in range(5):
        again = X[rng.permutation(300)][:, rng.permutation(n)]
        found = curvature_of(again.T @ again, again, np.ones(n))
        assert found == pytest.approx(expected, rel=1e-9)


def test_features_that_are_alike_at_the_start_are_told_apart(rng):
    """Two binary features that are as often 1 where the labels are high have one gradient."""
    X = (rng.random((400, 6)) < 0.3).astype(float)
    X[:, 1:3] = 0.0
    X[:100, 1] = X[50:150, 2] = 1.0
    y = np.zeros(400)
    y[50:100] = 1.0
    H = X.T @ X

    def of(columns: np.ndarray) -> float:
        x = X[:, columns]
        return mean_curvature(
            lambda theta: x.T @ (x @ theta - y), lambda theta: x @ theta, np.zeros(6), np.ones(6)
        )

    assert X[:, 1] @ y == X[:, 2] @ y and (H[0, 1], H[3, 1]) != (H[0, 2], H[3, 2])
    expected = of(np.arange(6))
    for _ in range(10):
        assert of(rng.permutation(6)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("prime", PRIMES)
def test_signs_are_balanced_at_any_distance(prime):
    z = signs(prime, 2000)
    assert abs(z.mean()) < 0.1
    for lag in (1, 2, 3, 10):
        assert abs((z[lag:] * z[:-lag]).mean()) < 0.1


def test_parameters_without_a_prior_do_not_count(rng):
    X = rng.standard_normal((300, 4)) * [1.0, 1.0, 1.0, 1e6]
    found = curvature_of(X.T @ X / 300, X, np.array([1.0, 1.0, 1.0, 0.0]))
    assert found == pytest.approx(1.0, rel=0.5)


def test_a_loss_that_does_not_curve_has_the_unit_one(rng):
    X = rng.standard_normal((30, 4))
    assert curvature_of(np.zeros((4, 4)), X, np.ones(4)) == 1.0
    assert curvature_of(np.eye(4), np.zeros((30, 4)), np.ones(4)) == 1.0
    assert curvature_of(np.eye(4), X, np.zeros(4)) == 1.0


@pytest.mark.parametrize("factor", [1e-3, 1e3])
@pytest.mark.parametrize("name", ["listnet", "ranknet", "least-squares", "wpl"])
def test_a_loss_times_a_constant_has_the_same_minimum(name, factor, rng):
    queries = random_queries(rng, [10] * 30)
    family = LinearFamily.standardised(queries.features)

    def weights(of: Loss) -> np.ndarray:
        solver = LBFGS(0.1, 500, tolerance=1e-9 * factor, flat=1e-14)
        return solver.fit(family, of, queries, None, rng).model.weights

    np.testing.assert_allclose(weights(times(factor, loss(name))), weights(loss(name)), atol=1e-4)


@pytest.mark.parametrize("solver", [LBFGS(0.1, flat=1e-14), LineSearch(2000, l2=0.1)])
def test_features_times_a_constant_have_the_same_scores(solver, rng):
    queries = random_queries(rng, [10] * 30)
    family = LinearFamily.plain(queries.n_features)
    scaled = replace(queries, features=queries.features * np.float32(8.0))
    learned = solver.fit(family, loss("listnet"), queries, None, rng)
    again = solver.fit(family, loss("listnet"), scaled, None, rng)
    np.testing.assert_allclose(
        again.model.predict(scaled.features), learned.model.predict(queries.features), atol=1e-3
    )
