"""Truncated Newton on functions whose minimum is known."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.newton import Expansion, minimise


def logistic(w: np.ndarray, rows: np.ndarray, C: float) -> Expansion:
    """|w|^2 / 2 + C sum log(1 + exp(-row . w)): smooth, 1-strongly convex, not quadratic."""
    t = rows @ w
    p = 1.0 / (1.0 + np.exp(t))
    return Expansion(
        float(w @ w / 2 + C * np.logaddexp(0.0, -t).sum()),
        w - C * rows.T @ p,
        lambda v: v + C * rows.T @ (p * (1 - p) * (rows @ v)),
    )


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_gap_is_a_bound_that_is_reached(rng: np.random.Generator, C: float) -> None:
    from scipy.optimize import minimize

    rows = rng.normal(size=(60, 6))
    end = minimise(lambda w: logistic(w, rows, C), np.zeros(6), 1e-8)
    reference = minimize(
        lambda w: logistic(w, rows, C).value,
        end.point,
        jac=lambda w: logistic(w, rows, C).gradient,
        options={"gtol": 1e-12},
    )
    assert end.converged and end.gap <= 1e-8 * end.value
    assert end.value - reference.fun <= end.gap + 1e-12 * end.value
    assert all(b <= a for a, b in zip(end.values, end.values[1:]))


def test_iteration_limit_is_told(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(60, 6))
    end = minimise(lambda w: logistic(w, rows, 1e3), np.zeros(6), 1e-12, iterations=1)
    assert not end.converged and len(end.values) == 2
