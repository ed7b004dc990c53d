"""L-BFGS with a prior: the optimum, what it says when stopped."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import loss
from letorbench.models import LinearFamily
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.lbfgs import LBFGS
from letorbench.solvers.objective import Objective


def fitted(queries: QuerySet, l2: float, iterations: int) -> FitResult:
    """Fit logistic regression with an intercept."""
    family = LinearFamily.plain(queries.n_features, intercept=True)
    solver = LBFGS(l2, iterations, per_document=True)
    return solver.fit(family, loss("logistic"), queries, None, np.random.default_rng(0))


@pytest.mark.parametrize("l2", [1e-3, 1e-1])
def test_lbfgs_ends_where_the_gradient_is_zero(l2, rng):
    queries = random_queries(rng, [10] * 20, levels=2)
    learned = fitted(queries, l2, 500)
    x, y = queries.features.astype(np.float64), queries.labels >= 1
    residual = 1.0 / (1.0 + np.exp(-learned.model.predict(queries.features))) - y
    w = learned.model.weights
    bare = Objective(LinearFamily.plain(5, intercept=True), loss("logistic"), queries, len(y))
    strength = bare.with_prior(l2, np.zeros(6)).l2
    np.testing.assert_allclose(residual @ x / len(y) + strength * w, 0.0, atol=1e-5)
    assert abs(residual.mean()) < 1e-5
    assert not learned.warnings and (np.diff(learned.objective) <= 1e-12).all()


def test_lbfgs_says_when_it_was_stopped(rng):
    queries = random_queries(rng, [10] * 20, levels=2)
    assert "after 1 iterations" in fitted(queries, 1e-3, 1).warnings[0].text


def test_a_prior_that_is_none_is_refused():
    with pytest.raises(UsageError, match="l2=-1.0"):
        LBFGS(-1.0)
    with pytest.raises(UsageError, match="iterations=0"):
        LBFGS(1.0, 0)
