"""Gradient descent: the start, the steps, the epoch kept."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.models import Linear
from letorbench.solvers.linear_descent import Descent, descend
from letorbench.solvers.validation import Validation


def test_a_small_step_never_raises_a_convex_loss(rng):
    queries = random_queries(rng, [10] * 20)
    for name in ("listnet", "ranknet", "logistic"):
        learned = descend(loss(name), queries, None, Descent(1e-3, 50))
        assert (np.diff(learned.objective) < 0.0).all()


def test_the_epoch_kept_is_the_best_on_validation(rng):
    train, held_out = random_queries(rng, [8] * 15), Validation(random_queries(rng, [8] * 15))
    learned = descend(loss("listnet"), train, held_out, Descent(0.5, 60))
    kept = held_out(learned.model.predict(held_out.queries.features))
    assert len(learned.curve) == 60
    assert kept == max(learned.curve) == learned.curve[learned.best - 1]


def test_patience_ends_training(rng):
    train, held_out = random_queries(rng, [8] * 15), Validation(random_queries(rng, [8] * 15))
    learned = descend(loss("listnet"), train, held_out, Descent(0.5, 1000, patience=7))
    assert len(learned.curve) == learned.best + 7


def test_a_rate_that_is_none_is_refused(rng):
    with pytest.raises(UsageError, match="learning_rate=0.0"):
        descend(loss("listnet"), random_queries(rng, [3]), None, Descent(0.0, 5))


def test_the_model_starts_at_zero(rng):
    queries = random_queries(rng, [6] * 4)
    learned = descend(loss("listnet"), queries, None, Descent(0.1, 1))
    gradient = loss("listnet")(np.zeros(queries.n_docs), queries)[1]
    expected = -0.1 * gradient @ queries.features / 4
    assert isinstance(learned.model, Linear)
    np.testing.assert_allclose(learned.model.weights, expected, rtol=1e-5)
