"""The least value of planes, against other solvers, at any scale of the slopes."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.plane_model import minimum_of_planes


def planes(rng: np.random.Generator, count: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    slopes = np.vstack([np.zeros(n), rng.normal(size=(count, n))])
    return slopes, np.append(0.0, rng.normal(size=count) + 1.0)


@pytest.mark.parametrize("C", [0.01, 1.0, 100.0])
def test_it_is_the_optimum_of_the_dual(rng: np.random.Generator, C: float) -> None:
    from scipy.optimize import minimize

    slopes, heights = planes(rng, 12, 5)
    gram = slopes @ slopes.T
    dual = minimize(
        lambda a: (a @ gram @ a / 2.0 - a @ heights, gram @ a - heights),
        np.full(13, C / 13),
        jac=True,
        method="SLSQP",
        bounds=[(0.0, None)] * 13,
        constraints={"type": "eq", "fun": lambda a: a.sum() - C},
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    found = minimum_of_planes(slopes, heights, C)
    assert found.bound == pytest.approx(-dual.fun, rel=1e-6)
    alpha, w = found.multipliers, found.point
    assert (alpha >= 0.0).all() and alpha.sum() == pytest.approx(C)
    at_point = w @ w / 2.0 + C * (heights + slopes @ w).max()
    assert found.bound <= at_point * (1.0 + 1e-12)
    assert at_point == pytest.approx(found.bound, rel=1e-7)


@pytest.mark.parametrize("precision", [1e-1, 1e-4, 1e-8])
def test_the_bound_is_one_at_any_precision(rng: np.random.Generator, precision: float) -> None:
    slopes, heights = planes(rng, 40, 8)
    best = minimum_of_planes(slopes, heights, 10.0, 1e-12).bound
    found = minimum_of_planes(slopes, heights, 10.0, precision)
    assert best * (1.0 - precision) - 1e-9 <= found.bound <= best * (1.0 + 1e-9)


def test_slopes_of_any_size_and_repeated_planes(rng: np.random.Generator) -> None:
    """|w|^2 hardly counts where features are huge: the planes' least value is that of a game."""
    from scipy.optimize import linprog

    slopes, heights = planes(rng, 30, 5)
    slopes[20:] = slopes[10:21]  # the same plane again
    heights[20:] = heights[10:21]
    game = linprog(
        np.append(np.zeros(5), 1.0),
        np.hstack([slopes, -np.ones((31, 1))]),
        -heights,
        bounds=[(None, None)] * 6,
    )
    unit = 10.0 ** np.array([6, 6, 7, 8, 9])
    found = minimum_of_planes(slopes * unit, heights, 3.0)
    assert found.bound == pytest.approx(3.0 * game.fun, abs=1e-6)
