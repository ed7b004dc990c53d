"""Cutting planes on a convex risk whose minimum another solver can find."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.cutting_planes import minimise


def hinge(rows: np.ndarray):
    def oracle(w: np.ndarray) -> tuple[float, np.ndarray]:
        active = rows @ w < 1.0
        return float(np.maximum(0.0, 1.0 - rows @ w).mean()), -(active @ rows) / len(rows)

    return oracle


def optimum(rows: np.ndarray, C: float) -> float:
    """The support vector machine's dual by a bounded quasi-Newton method."""
    from scipy.optimize import minimize

    gram = rows @ rows.T
    found = minimize(
        lambda a: (a @ gram @ a / 2 - a.sum(), gram @ a - 1.0),
        np.zeros(len(rows)),
        jac=True,
        bounds=[(0.0, C / len(rows))] * len(rows),
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 10**6},
    )
    return -found.fun


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_reaches_the_gap_it_states(rng: np.random.Generator, C: float) -> None:
    rows = rng.normal(size=(80, 6)) + 0.3
    best = optimum(rows, C)
    for gap in (1e-2, 1e-4, 1e-6):
        found = minimise(hinge(rows), 6, C, gap)
        assert found.converged
        assert found.gap <= gap * found.value
        assert -1e-9 <= (found.value - best) / best <= gap + 1e-9
        assert all(b <= a for a, b in zip(found.values, found.values[1:]))


def test_iteration_limit_is_told(rng: np.random.Generator) -> None:
    found = minimise(hinge(rng.normal(size=(80, 6))), 6, 1e3, 1e-9, iterations=3)
    assert not found.converged and len(found.values) == 3 and found.gap > 0
