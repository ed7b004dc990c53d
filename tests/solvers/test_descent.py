"""Gradient descent, line search and L-BFGS, and the curvature that their l2 is measured in."""

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.losses import loss
from letorbench.losses.base import CustomLoss
from letorbench.models import LinearFamily
from letorbench.solvers.descent import LBFGS, GradientDescent, LineSearch
from letorbench.solvers.objective import PRIMES, Objective, mean_curvature, ranks, signs
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping


def test_a_step_that_only_keeps_the_objective_is_halved(rng):
    """(w - 1)^2 from w = 0: the first step tried leads to w = 2, which is no better."""
    queries, family = random_queries(rng, [1], n_features=1), LinearFamily.plain(1)
    with unlocked(queries):
        queries.features[:], queries.labels[:] = 1.0, 1
    learned = LineSearch(50).fit(family, loss("least-squares"), queries, None, rng)
    assert learned.objective == (1.0, 0.0) and learned.model.weights.tolist() == [1.0]


@pytest.mark.parametrize(
    "solver", [LineSearch(9, 0.1), LBFGS(9, 0.1), GradientDescent(0.5, 3, 0, 0.1)]
)
def test_a_start_at_the_minimum_stays_there(solver, rng):
    queries = random_queries(rng, [4, 4], levels=1)
    family = LinearFamily.plain(5, intercept=True)
    found = solver.fit(family, loss("least-squares"), queries, None, rng)
    assert not found.model.weights.any() and found.model.bias == 0.0 and not found.warnings
    assert set(found.objective) == {0.0} and not found.cut_off


@pytest.mark.parametrize("name", ["cosine", "cosine-ndcg", "qnorm"])
def test_losses_without_size_have_one_minimum_wherever_they_start(name, rng):
    queries = random_queries(rng, [10] * 30)
    with unlocked(queries):  # two features are nearly alike, and one tells of the labels
        queries.features[:, 0] += queries.labels
        queries.features[:, 4] = queries.features[:, 0] + queries.features[:, 4] / 50
    family = LinearFamily.plain(5, intercept=True)
    objective, ends = Objective(family, loss(name), queries, 30), []
    for size in (0.0, 1e-9, 1e-3, 1.0):
        theta = size * rng.standard_normal(6)
        found = LBFGS(500).minimise(objective, theta, EarlyStopping())
        assert not found.warnings and len(found.objective) <= 16
        scores = found.model.predict(queries.features)
        ends.append(np.append(found.objective[-1], scores / np.abs(scores).max()))
    np.testing.assert_allclose(ends[1:], ends[:1] * 3, rtol=0, atol=1e-4)
    assert np.ptp([each[0] for each in ends]) < 1e-8


@pytest.mark.parametrize("late", [False, True])
def test_limits_of_iterations_and_of_time_are_warned_of(late, rng):
    """The warning says how steep it is at the end, the objective where that is."""
    queries = random_queries(rng, [10] * 20, levels=2)
    family = LinearFamily.plain(queries.n_features, intercept=True)
    deadline, n = Deadline(0.0) if late else NEVER, 1 if late else 2
    found = LineSearch(2, 1e-3).fit(family, loss("logistic"), queries, None, rng, deadline)
    objective = Objective(family, loss("logistic"), queries, 20).with_prior(1e-3, np.zeros(6))
    begin, end = (
        objective(np.append(m.weights, m.bias)) for m in (family.model(np.zeros(6)), found.model)
    )
    steepness = [np.linalg.norm(each[1]) for each in (begin, end)]
    [warning] = found.warnings
    assert warning.kind == ("cut off" if late else "not converged")
    share = f" {steepness[1] / steepness[0]:.1e} times"
    assert f" {n} iterations" in warning.text and share in warning.text
    assert found.cut_off == late and (found.curve, found.best) == ((), None)
    assert len(found.objective) == n + 1
    assert (found.objective[0], found.objective[-1]) == pytest.approx((begin[0], end[0]), rel=1e-12)


@pytest.mark.parametrize("n", [1, 5, 45])
def test_the_curvature_is_the_mean_diagonal_of_the_hessian(n, rng):
    queries, family = random_queries(rng, [10] * 30, n), LinearFamily.plain(n, intercept=True)
    with unlocked(queries):
        queries.features[:] *= rng.uniform(0.1, 3.0, n)
    objective, zero = Objective(family, loss("least-squares"), queries, 30.0), np.zeros(n + 1)
    design = family.design(queries.features)
    H, curvature = design.T @ design / 15.0, mean_curvature(objective, zero)
    directions = [signs(prime, n + 1)[ranks(objective, zero)] for prime in PRIMES]
    expected = np.mean([z[:n] @ H[:n, :n] @ z[:n] for z in directions]) / n
    assert curvature == pytest.approx(expected)
    assert curvature == pytest.approx(np.diag(H)[:n].mean(), rel=0.5)


def test_one_feature_of_one_document_does_not_decide_how_strong_a_prior_is(rng):
    """e^s of the document's score would, and hold all weights at 0."""
    queries = random_queries(rng, [10] * 30, 4)
    X = queries.features.copy()
    X[7, 2] = 10.0 * np.abs(X[:, 2]).max()
    family = LinearFamily.conditioned(queries.features, intercept=True)
    usual, outlier = (
        mean_curvature(Objective(family, loss("cross-entropy-ndcg"), each, 30.0), np.zeros(5))
        for each in (queries, replace(queries, features=X))
    )
    assert outlier < 20.0 * usual


def test_what_does_not_curve_or_has_no_prior(rng):
    queries = random_queries(rng, [10] * 3, 4)
    flat = CustomLoss("flat", "0", lambda s, each: (0.0 * each.lengths, 0.0 * s))
    without, still = (
        replace(queries, features=X) for X in (queries.features[:, :0], queries.features * 0)
    )
    for each, function in ((queries, flat), (still, loss("logistic")), (without, loss("logistic"))):
        family = LinearFamily.plain(each.n_features, intercept=True)
        objective = Objective(family, function, each, 3.0)
        assert mean_curvature(objective, np.zeros(family.n_parameters)) == 1.0
