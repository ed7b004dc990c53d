"""L-BFGS against known minima and against SciPy's."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize, rosen, rosen_der

from letorbench.solvers import quasi_newton
from letorbench.solvers.quasi_newton import minimise


def rosenbrock(x: np.ndarray) -> tuple[float, np.ndarray]:
    return float(rosen(x)), rosen_der(x)


def logistic(rng: np.random.Generator, scale: np.ndarray):
    """A regularised logistic regression on columns of these scales."""
    x = rng.normal(size=(300, len(scale))) * scale
    y = np.where(x @ (1.0 / scale) + rng.normal(size=300) > 0, 1.0, -1.0)

    def function(w: np.ndarray) -> tuple[float, np.ndarray]:
        margin = y * (x @ w)
        pull = -y / (1.0 + np.exp(np.minimum(margin, 500.0)))
        value = np.logaddexp(0.0, -margin).mean() + 0.5e-3 * w @ w
        return float(value), pull @ x / len(y) + 1e-3 * w

    return function


@pytest.mark.parametrize("n", [2, 7, 40])
def test_a_curved_valley_is_followed_to_its_end(n: int) -> None:
    found = minimise(rosenbrock, np.full(n, -0.7), 2000, 1e-8)
    assert found.largest <= 1e-8
    if n == 2:
        np.testing.assert_allclose(found.point, 1.0, atol=1e-6)
    assert (np.diff(found.history) <= 0.0).all()


@pytest.mark.parametrize("spread", [1.0, 1e3])
def test_the_minimum_and_the_effort_are_scipys(spread: float, rng: np.random.Generator) -> None:
    calls = []
    function = logistic(rng, np.geomspace(1.0, spread, 20))

    def counted(w: np.ndarray) -> tuple[float, np.ndarray]:
        calls.append(w)
        return function(w)

    found = minimise(counted, np.zeros(20), 2000, 1e-7)
    theirs = minimize(
        function, np.zeros(20), jac=True, method="L-BFGS-B",
        options={"gtol": 1e-7, "ftol": 0.0, "maxcor": 20, "maxiter": 2000, "maxfun": 9999},
    )  # fmt: skip
    assert found.history[-1] == pytest.approx(theirs.fun, rel=1e-9)
    assert len(calls) <= 1.5 * theirs.nfev + 10


def test_infinite_values_are_steps_too_long() -> None:
    def barrier(x: np.ndarray) -> tuple[float, np.ndarray]:
        with np.errstate(invalid="ignore", divide="ignore"):
            return float(-np.log(x).sum() + x.sum()), 1.0 - 1.0 / x

    found = minimise(barrier, np.array([1e-3, 50.0]), 200, 1e-9)
    np.testing.assert_allclose(found.point, 1.0, atol=1e-7)


def test_a_kink_ends_the_search() -> None:
    def distance(x: np.ndarray) -> tuple[float, np.ndarray]:
        return float(np.abs(x).sum()), np.sign(x)

    found = minimise(distance, np.array([3.0, -2.0]), 100, 1e-9)
    assert len(found.history) <= 101
    assert found.history[-1] < 0.5


def test_the_search_ends_where_it_is_told() -> None:
    start = np.full(7, -0.7)
    assert len(minimise(rosenbrock, start, 5, 1e-8).history) == 6
    assert len(minimise(rosenbrock, start, 500, 1e-8, late=lambda: True).history) == 2
    assert len(minimise(rosenbrock, np.ones(7), 500, 1e-8).history) == 1
    some = minimise(rosenbrock, start, 2000, 1e-8, flat=1e-3)
    assert len(some.history) < len(minimise(rosenbrock, start, 2000, 1e-8).history)


def at(length: float, value: float, slope: float) -> quasi_newton._At:
    return quasi_newton._At(length, value, slope, np.zeros(1))


@pytest.mark.parametrize(
    ("slope", "length"),
    [
        (-0.7, 1.0 / 0.3),  # a slope that rises from -1 by .3 a unit vanishes there
        (-0.4, 2.0),  # at least twice as long
        (-0.95, 10.0),  # at most ten times
        (-1.0, 10.0),  # a slope that does not rise vanishes nowhere
        (-1.5, 10.0),
    ],
)
def test_a_step_grows_to_where_the_slope_vanishes(slope, length):
    assert quasi_newton._beyond(at(0.0, 0.0, -1.0), at(1.0, -0.5, slope)) == pytest.approx(length)


@pytest.mark.parametrize(("lowest", "expected"), [(0.3, 0.3), (0.04, 0.1), (0.98, 0.9), (0.5, 0.5)])
def test_between_two_lengths_the_cubics_least_point_is_tried(lowest, expected):
    def square(length):
        return at(length, (length - lowest) ** 2, 2.0 * (length - lowest))

    found = quasi_newton._between(square(0.0), square(1.0))
    assert found == pytest.approx(expected)
    # from the right end to the left one
    assert quasi_newton._between(square(1.0), square(0.0)) == pytest.approx(expected)
    # no cubic where f is infinite: the middle
    assert quasi_newton._between(square(0.0), at(1.0, np.inf, np.nan)) == 0.5
