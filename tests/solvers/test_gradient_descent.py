"""Untuned gradient descent: it never rises, and ends at the minimum of a convex loss."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.models.linear_functional import LinearFunctional
from letorbench.solvers.gradient_descent import descend_steepest
from letorbench.solvers.lbfgs import Prior, minimise


@pytest.mark.parametrize("name", ["least-squares", "cosine-ndcg", "qnorm", "cross-entropy-ndcg@10"])
def test_the_objective_never_rises(name, rng):
    queries = random_queries(rng, [10] * 30)
    functional = LinearFunctional.plain(queries.n_features, intercept=True)
    learned = descend_steepest(functional, loss(name), queries, 200)
    assert (np.diff(learned.objective) <= 0.0).all()
    assert learned.objective[-1] < learned.objective[0] - 1e-3


@pytest.mark.parametrize("name", ["least-squares-ndcg", "cross-entropy", "cross-entropy-ndcg"])
def test_it_finds_the_minimum_of_a_convex_loss(name, rng):
    queries = random_queries(rng, [10] * 30)
    functional = LinearFunctional.plain(queries.n_features, intercept=True)
    slow = descend_steepest(functional, loss(name), queries, 5_000, tolerance=1e-6)
    best = minimise(functional, loss(name), queries, Prior(0.0, 2_000), queries.n_queries, rng)
    assert slow.objective[-1] == pytest.approx(best.objective[-1], rel=1e-6)
    assert not slow.warnings


def test_features_of_wildly_different_sizes_give_a_warning_not_nan(rng):
    queries = random_queries(rng, [10] * 30)
    queries.features[:, 0] *= np.float32(1e6)
    functional = LinearFunctional.plain(queries.n_features, intercept=True)
    learned = descend_steepest(functional, loss("cross-entropy-ndcg"), queries, 50)
    assert np.isfinite(learned.model.predict(queries.features)).all()
    assert np.isfinite(learned.objective).all()


def test_it_says_when_it_was_stopped(rng):
    queries = random_queries(rng, [10] * 30)
    functional = LinearFunctional.plain(queries.n_features)
    learned = descend_steepest(functional, loss("least-squares"), queries, 2)
    assert "after 2 iterations" in learned.warnings[0] and len(learned.objective) == 3
    with pytest.raises(UsageError, match="iterations=0"):
        descend_steepest(functional, loss("least-squares"), queries, 0)
