"""Gradient descent and L-BFGS: the gradient, the optimum, the epoch kept."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.optimizers.gradient import Descent, descend, minimise, pull_back
from letorbench.rankers.base import Validation
from letorbench.scorers import Linear


def test_pull_back_is_a_product_whatever_the_threads(monkeypatch, rng):
    features = rng.random((10_001, 7), dtype=np.float32)
    gradient = rng.normal(size=10_001)
    results = []
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        results.append(pull_back(features, gradient))
    assert all(np.array_equal(results[0], other) for other in results)
    np.testing.assert_allclose(results[0], gradient @ features.astype(np.float64), rtol=1e-9)


def test_a_small_step_never_raises_a_convex_loss(rng):
    queries = random_queries(rng, [10] * 20)
    for name in ("listnet", "ranknet", "logistic"):
        learned = descend(loss(name), queries, None, Descent(1e-3, 50))
        assert (np.diff(learned.objective) < 0.0).all()


def test_the_epoch_kept_is_the_best_on_validation(rng):
    train, held_out = random_queries(rng, [8] * 15), Validation(random_queries(rng, [8] * 15))
    learned = descend(loss("listnet"), train, held_out, Descent(0.5, 60))
    kept = held_out(learned.scorer.predict(held_out.queries.features))
    assert len(learned.curve) == 60
    assert kept == max(learned.curve) == learned.curve[learned.best - 1]


def test_patience_ends_training(rng):
    train, held_out = random_queries(rng, [8] * 15), Validation(random_queries(rng, [8] * 15))
    learned = descend(loss("listnet"), train, held_out, Descent(0.5, 1000, patience=7))
    assert len(learned.curve) == learned.best + 7


@pytest.mark.parametrize("l2", [1e-3, 1e-1])
def test_lbfgs_ends_where_the_gradient_is_zero(l2, rng):
    queries = random_queries(rng, [10] * 20, levels=2)
    learned = minimise(loss("logistic"), queries, l2, 500)
    x, y = queries.features.astype(np.float64), queries.labels >= 1
    residual = 1.0 / (1.0 + np.exp(-learned.scorer.predict(queries.features))) - y
    w = learned.scorer.weights
    np.testing.assert_allclose(residual @ x / len(y) + l2 * w, 0.0, atol=1e-5)
    assert abs(residual.mean()) < 1e-5
    assert not learned.warnings and (np.diff(learned.objective) <= 1e-12).all()


def test_lbfgs_says_when_it_was_stopped(rng):
    queries = random_queries(rng, [10] * 20, levels=2)
    assert "after 1 iterations" in minimise(loss("logistic"), queries, 1e-3, 1).warnings[0]


def test_a_rate_that_is_none_is_refused(rng):
    with pytest.raises(UsageError, match="learning_rate=0.0"):
        descend(loss("listnet"), random_queries(rng, [3]), None, Descent(0.0, 5))


def test_the_model_starts_at_zero(rng):
    queries = random_queries(rng, [6] * 4)
    learned = descend(loss("listnet"), queries, None, Descent(0.1, 1))
    gradient = loss("listnet")(np.zeros(queries.n_docs), queries)[1]
    expected = -0.1 * gradient @ queries.features / 4
    assert isinstance(learned.scorer, Linear)
    np.testing.assert_allclose(learned.scorer.weights, expected, rtol=1e-5)
