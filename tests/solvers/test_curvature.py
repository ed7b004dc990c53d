"""The curvature that l2 is measured in: its value, and what it makes equal."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries

from letorbench.losses import Loss, loss
from letorbench.losses.base import ValueAndGradient
from letorbench.models import LinearFamily
from letorbench.solvers.curvature import PRIMES, mean_curvature, signs
from letorbench.solvers.gradient_descent import LineSearch
from letorbench.solvers.lbfgs import LBFGS


def times(factor: float, of: Loss) -> Loss:
    """A loss multiplied by a constant."""

    def function(scores, queries):
        value, gradient = of(scores, queries)
        return ValueAndGradient(factor * value, factor * gradient)

    return replace(of, function=function)


def curvature_of(H: np.ndarray, X: np.ndarray, penalised: np.ndarray) -> float:
    return mean_curvature(
        lambda theta: H @ theta, lambda theta: X @ theta, np.zeros(len(H)), penalised
    )


def test_it_is_the_mean_diagonal_of_the_hessian(rng):
    for n in (1, 5, 45):
        X = rng.standard_normal((300, n)) * rng.uniform(0.1, 3.0, n)
        H = X.T @ X / 300
        found = curvature_of(H, X, np.ones(n))
        directions = [signs(prime, n) for prime in PRIMES]
        assert found == pytest.approx(np.mean([z @ H @ z for z in directions]) / n)
        assert found == pytest.approx(np.trace(H) / n, rel=0.5)


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
@pytest.mark.parametrize("name", ["listnet", "ranknet", "least-squares", "wpl-1"])
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
