"""Gradient descent: the start, the steps, the epoch kept; line search: it never rises."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import CustomLoss, Loss, loss
from letorbench.models import Bilinear, Linear, LinearFamily
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.gradient_descent import GradientDescent, LineSearch
from letorbench.solvers.lbfgs import LBFGS
from letorbench.solvers.objective import Objective
from letorbench.solvers.rules import best, latest
from letorbench.solvers.validation import Validation


def descended(loss: Loss, train: QuerySet, solver: GradientDescent, held_out=None) -> FitResult:
    """Fit a linear score, as ListNet does."""
    family = LinearFamily.plain(train.n_features)
    return solver.fit(family, loss, train, held_out, np.random.default_rng(0))


def searched(loss: Loss, train: QuerySet, solver: LineSearch) -> FitResult:
    family = LinearFamily.plain(train.n_features, intercept=True)
    return solver.fit(family, loss, train, None, np.random.default_rng(0))


def test_a_small_step_never_raises_a_convex_loss(rng):
    queries = random_queries(rng, [10] * 20)
    for name in ("listnet", "ranknet", "logistic"):
        learned = descended(loss(name), queries, GradientDescent(1e-3, 50))
        assert (np.diff(learned.objective) < 0.0).all()


@pytest.mark.parametrize("rule", [best, latest])
def test_the_epoch_kept_is_the_one_that_the_rule_chooses(rule, rng):
    train = random_queries(rng, [8] * 15)
    held_out = Validation(random_queries(rng, [8] * 15), rule=rule)
    learned = descended(loss("listnet"), train, GradientDescent(0.5, 60), held_out)
    kept = held_out(learned.model.predict(held_out.queries.features)).mean()
    assert len(learned.curve) == 60
    assert kept == learned.curve[learned.best - 1]
    assert rule is latest or kept == max(learned.curve)


def test_patience_ends_training(rng):
    train, held_out = random_queries(rng, [8] * 15), Validation(random_queries(rng, [8] * 15))
    learned = descended(loss("listnet"), train, GradientDescent(0.5, 1000, 7), held_out)
    assert len(learned.curve) == learned.best + 7


def test_a_rate_that_is_none_is_refused():
    with pytest.raises(UsageError, match="learning_rate=0.0"):
        GradientDescent(0.0, 5)
    with pytest.raises(UsageError, match="l2=-1"):
        GradientDescent(1.0, 5, l2=-1)


def test_a_rate_that_is_too_large_is_said_to_be(rng):
    queries = random_queries(rng, [10] * 20)
    learned = descended(loss("least-squares"), queries, GradientDescent(1e6, 500))
    ended = len(
        learned.objective
    )  # each epoch multiplies the weights by about 10^6: 10^308 is near
    assert f"epoch {ended} gave" in learned.warnings[0].text and ended < 100
    assert "the learning rate is too large" in learned.warnings[0].text
    assert np.isfinite(learned.model.weights).all()


def test_the_linear_model_starts_at_zero(rng):
    queries = random_queries(rng, [6] * 4)
    learned = descended(loss("listnet"), queries, GradientDescent(0.1, 1))
    gradient = loss("listnet")(np.zeros(queries.n_docs), queries).gradient
    expected = -0.1 * gradient @ queries.features / 4
    assert isinstance(learned.model, Linear)
    np.testing.assert_allclose(learned.model.weights, expected, rtol=1e-5)


def test_the_prior_holds_the_parameters(rng):
    queries = random_queries(rng, [10] * 20)
    free = descended(loss("listnet"), queries, GradientDescent(0.5, 200))
    held = descended(loss("listnet"), queries, GradientDescent(0.5, 200, l2=1.0))
    assert np.linalg.norm(held.model.weights) < np.linalg.norm(free.model.weights)


@pytest.mark.parametrize("intercept", [False, True])
def test_one_look_at_the_features_gives_the_same_objective(intercept, rng):
    queries = random_queries(rng, [10] * 40)
    family = LinearFamily(rng.normal(size=5), rng.uniform(1.0, 9.0, 5), intercept)
    by_scores = CustomLoss("by scores", "", loss("listnet"))
    plain = Objective(family, by_scores, queries, 7, 0.1)
    theta = rng.normal(size=family.n_parameters)
    value, gradient = replace(plain, loss=loss("listnet"))(theta)
    expected, slope = plain(theta)
    assert value == pytest.approx(expected, rel=1e-14)
    np.testing.assert_allclose(gradient, slope, rtol=1e-12, atol=1e-14)


def test_a_family_that_cannot_start_at_zero_moves(rng):
    queries = random_queries(rng, [10] * 20, 6)
    family = Bilinear(3, 3, 2)
    for solver in (GradientDescent(0.1, 20), LineSearch(20)):
        learned = solver.fit(family, loss("listnet"), queries, None, rng)
        assert learned.objective[-1] < learned.objective[0]


@pytest.mark.parametrize("name", ["least-squares", "cosine-ndcg", "qnorm", "cross-entropy-ndcg@10"])
def test_the_objective_never_rises(name, rng):
    queries = random_queries(rng, [10] * 30)
    learned = searched(loss(name), queries, LineSearch(200))
    assert (np.diff(learned.objective) <= 0.0).all()
    assert learned.objective[-1] < learned.objective[0] - 1e-3


def test_a_step_that_only_keeps_the_objective_is_halved():
    """(w - 1)^2 from w = 0: the first step tried leads to w = 2, which is no better."""
    queries = random_queries(np.random.default_rng(0), [1], n_features=1)
    with unlocked(queries):
        queries.features[:], queries.labels[:] = 1.0, 1
    family = LinearFamily.plain(1)
    learned = LineSearch(50).fit(
        family, loss("least-squares"), queries, None, np.random.default_rng(0)
    )
    assert learned.objective == (1.0, 0.0) and learned.model.weights.tolist() == [1.0]


@pytest.mark.parametrize("name", ["least-squares-ndcg", "cross-entropy", "cross-entropy-ndcg"])
def test_it_finds_the_minimum_of_a_convex_loss(name, rng):
    queries = random_queries(rng, [10] * 30)
    slow = searched(loss(name), queries, LineSearch(5_000, tolerance=1e-6))
    family = LinearFamily.plain(queries.n_features, intercept=True)
    best = LBFGS(0.0, 2_000).fit(family, loss(name), queries, None, rng)
    assert slow.objective[-1] == pytest.approx(best.objective[-1], rel=1e-6)
    assert not slow.warnings


def test_features_of_wildly_different_sizes_give_a_warning_not_nan(rng):
    queries = random_queries(rng, [10] * 30)
    with unlocked(queries):
        queries.features[:, 0] *= np.float32(1e6)
    learned = searched(loss("cross-entropy-ndcg"), queries, LineSearch(50))
    assert np.isfinite(learned.model.predict(queries.features)).all()
    assert np.isfinite(learned.objective).all()


def test_it_says_when_it_was_stopped(rng):
    queries = random_queries(rng, [10] * 30)
    learned = searched(loss("least-squares"), queries, LineSearch(2))
    assert "after 2 iterations" in learned.warnings[0].text and len(learned.objective) == 3
    with pytest.raises(UsageError, match="iterations=0"):
        LineSearch(0)
