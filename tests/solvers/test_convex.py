"""The bundle method against other solvers; Newton's method is in test_hard_data.py."""

import numpy as np
import pytest
from scipy.optimize import linprog, minimize

from letorbench.models import Linear
from letorbench.solvers.bundle import minimise
from letorbench.solvers.stopping import Deadline


def hinge(rows: np.ndarray):
    def oracle(w: np.ndarray) -> tuple[float, np.ndarray]:
        active = rows @ w < 1.0
        return float(np.maximum(0.0, 1.0 - rows @ w).mean()), -(active @ rows) / len(rows)

    return oracle


def optimum(rows: np.ndarray, C: float) -> float:
    """The support vector machine's dual by a bounded quasi-Newton method."""
    gram = rows @ rows.T
    dual = minimize(
        lambda a: (a @ gram @ a / 2 - a.sum(), gram @ a - 1.0),
        np.zeros(len(rows)),
        jac=True,
        bounds=[(0.0, C / len(rows))] * len(rows),
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 20_000, "maxfun": 10**6},
    )
    return -dual.fun


@pytest.mark.parametrize(
    "C, powers", [(0.1, [0] * 6), (10.0, [0] * 6), (1000.0, [0] * 6), (5.0, [-3, 0, 2, 0])]
)
def test_reaches_the_gap_it_states(rng, C, powers):
    rows = (rng.normal(size=(80, len(powers))) + 0.3) * 10.0 ** np.array(powers)
    best = optimum(rows, C)
    for gap in (1e-2, 1e-4, 1e-6):
        end = minimise(hinge(rows), len(powers), C, gap)
        assert end.converged and end.gap <= gap * end.value
        assert -1e-9 <= (end.value - best) / best <= gap + 1e-9
        assert all(b <= a for a, b in zip(end.values, end.values[1:]))


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_huge_features_leave_the_optimum_of_the_risk(rng, C):
    """With features times 10^6 and more, |w|^2 costs nothing: R alone is minimised."""
    rows = rng.normal(size=(80, 6)) + 0.3
    n = len(rows)
    slack = np.hstack([-rows, -np.eye(n)])
    bounds = [(None, None)] * 6 + [(0, None)] * n
    cost = np.append(np.zeros(6), np.full(n, C / n))
    least = linprog(cost, slack, -np.ones(n), bounds=bounds).fun
    end = minimise(hinge(rows * 10.0 ** np.array([6, 6, 7, 8, 9, 9])), 6, C, 1e-4)
    assert end.converged and end.value == pytest.approx(least, rel=2e-4)
    assert end.value - end.gap <= least * (1.0 + 1e-9)


def test_ends_with_few_planes(rng):
    """Plain cutting planes, a step of 1, take four times as many here."""
    rows = rng.normal(size=(2000, 40)) + 0.2
    end = minimise(hinge(rows), 40, 1e3, 1e-3)
    assert end.converged and len(end.values) < 120


def test_limits_are_told(rng):
    rows = rng.normal(size=(80, 6))
    end = minimise(hinge(rows), 6, 1e3, 1e-9, iterations=3)
    assert not end.converged and len(end.values) == 3 and end.gap > 0
    assert end.fit_result(Linear(end.point)).warnings[0].kind == "not converged"
    end = minimise(hinge(rows), 6, 1e3, 1e-9, deadline=Deadline(0.0))
    assert end.late and len(end.values) == 2
    assert end.fit_result(Linear(end.point)).warnings[0].kind == "cut off"
