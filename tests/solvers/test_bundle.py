"""The bundle method finds the optimum in any units, and its lower bound is one."""

from __future__ import annotations

import numpy as np
import pytest
from test_cutting_planes import hinge, optimum

from letorbench.solvers.bundle import minimise
from letorbench.solvers.deadline import Deadline
from letorbench.solvers.plane_bound import lower_bound


@pytest.mark.parametrize("C", [0.1, 10.0, 1000.0])
def test_reaches_the_gap_it_states(rng: np.random.Generator, C: float) -> None:
    rows = rng.normal(size=(80, 6)) + 0.3
    best = optimum(rows, C)
    for gap in (1e-2, 1e-4):
        found = minimise(hinge(rows), np.ones(6), C, gap)
        assert found.converged and found.gap <= gap * found.value
        assert -1e-9 <= (found.value - best) / best <= gap + 1e-9


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_huge_units_leave_the_optimum_of_the_risk(rng: np.random.Generator, C: float) -> None:
    """With features times 10^6 and more, |w|^2 costs nothing: R alone is minimised."""
    from scipy.optimize import linprog

    rows = rng.normal(size=(80, 6)) + 0.3
    n = len(rows)
    slack = np.hstack([-rows, -np.eye(n)])
    bounds = [(None, None)] * 6 + [(0, None)] * n
    least = linprog(
        np.append(np.zeros(6), np.full(n, C / n)), slack, -np.ones(n), bounds=bounds
    ).fun  # fmt: skip
    unit = 10.0 ** np.array([6, 6, 7, 8, 9, 9])
    found = minimise(hinge(rows * unit), unit, C, 1e-4)
    assert found.converged
    assert found.value == pytest.approx(least, rel=2e-4)
    assert found.value - found.gap <= least * (1.0 + 1e-9)


def test_units_do_not_hide_what_small_features_cost(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(60, 4)) + 0.3
    tiny = rows * 10.0 ** np.array([-3, 0, 2, 0])
    best = optimum(tiny, 5.0)
    found = minimise(hinge(tiny), np.abs(tiny).mean(axis=0), 5.0, 1e-4)
    assert found.converged and found.value == pytest.approx(best, rel=2e-4)


def test_bounds_are_told(rng: np.random.Generator) -> None:
    rows = rng.normal(size=(80, 6))
    found = minimise(hinge(rows), np.ones(6), 1e3, 1e-9, iterations=3)
    assert not found.converged and found.gap > 0 and found.warnings()[0].kind == "not converged"
    late = minimise(hinge(rows), np.ones(6), 1e3, 1e-9, deadline=Deadline(0.0))
    assert late.late and len(late.values) == 2 and late.warnings()[0].kind == "cut off"


@pytest.mark.parametrize("power", [0, -3, -18])
def test_the_lower_bound_is_the_dual_optimum(rng: np.random.Generator, power: int) -> None:
    """Against a grid of the primal: no value is below the bound, and the least is near it."""
    slopes = np.vstack([np.zeros(2), rng.normal(size=(12, 2))])
    heights = np.append(0.0, rng.normal(size=12) + 1.0)
    ridge = np.full(2, 10.0**power)
    bound = lower_bound(slopes, heights, ridge, 2.0)
    from scipy.optimize import minimize

    def value(v):
        return ridge @ (v * v) / 2.0 + 2.0 * (heights + slopes @ v).max()

    least = min(
        minimize(value, start, method="Nelder-Mead", options={"xatol": 1e-12, "fatol": 1e-14}).fun
        for start in rng.normal(size=(20, 2))
    )
    assert bound <= least + 1e-9
    assert bound == pytest.approx(least, abs=1e-6)
