"""Cutting planes on a convex risk whose minimum another solver can find."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.cutting_planes import UNUSED, _Planes, minimise
from letorbench.solvers.deadline import Deadline


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


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_huge_features_leave_the_optimum_of_the_risk(rng: np.random.Generator, C: float) -> None:
    """With features times 10^6 and more, |w|^2 costs nothing: R alone is minimised."""
    from scipy.optimize import linprog

    rows = rng.normal(size=(80, 6)) + 0.3
    n = len(rows)
    slack = np.hstack([-rows, -np.eye(n)])
    bounds = [(None, None)] * 6 + [(0, None)] * n
    least = linprog(
        np.append(np.zeros(6), np.full(n, C / n)), slack, -np.ones(n), bounds=bounds
    ).fun  # fmt: skip
    found = minimise(hinge(rows * 10.0 ** np.array([6, 6, 7, 8, 9, 9])), 6, C, 1e-4)
    assert found.converged
    assert found.value == pytest.approx(least, rel=2e-4)
    assert found.value - found.gap <= least * (1.0 + 1e-9)


def test_small_features_cost_what_they_do(rng: np.random.Generator) -> None:
    rows = (rng.normal(size=(60, 4)) + 0.3) * 10.0 ** np.array([-3, 0, 2, 0])
    found = minimise(hinge(rows), 4, 5.0, 1e-4)
    assert found.converged and found.value == pytest.approx(optimum(rows, 5.0), rel=2e-4)


def test_ends_with_few_planes(rng: np.random.Generator) -> None:
    """Plain cutting planes, a step of 1, take four times as many here."""
    rows = rng.normal(size=(2000, 40)) + 0.2
    found = minimise(hinge(rows), 40, 1e3, 1e-3)
    assert found.converged and len(found.values) < 120


def test_iteration_limit_is_told(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(80, 6))
    found = minimise(hinge(rows), 6, 1e3, 1e-9, iterations=3)
    assert not found.converged and len(found.values) == 3 and found.gap > 0
    assert found.warnings()[0].kind == "not converged"


def test_a_deadline_is_told(rng: np.random.Generator) -> None:
    found = minimise(hinge(rng.normal(size=(80, 6))), 6, 1e3, 1e-9, deadline=Deadline(0.0))
    assert found.late and len(found.values) == 2 and found.warnings()[0].kind == "cut off"


def test_a_plane_that_is_idle_for_long_is_dropped_but_never_the_first():
    """R >= 0 holds for any risk."""
    planes = _Planes(2, 1.0)
    planes.add(np.array([1.0, 0.0]), 0.5)
    planes.add(np.array([0.0, 1.0]), 0.6)
    planes.idle[:] = UNUSED, UNUSED - 1, UNUSED
    planes.add(np.array([1.0, 1.0]), 0.7)
    assert planes.heights.tolist() == [0.0, 0.5, 0.7]
    assert planes.slopes.tolist() == [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0]]
    assert planes.idle.tolist() == [UNUSED, UNUSED - 1, 0]
