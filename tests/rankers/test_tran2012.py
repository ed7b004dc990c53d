"""The rank functionals: their settings, groups, and models of two vectors."""

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.rankers import ranker


@pytest.mark.parametrize(
    ("individual", "kind"),
    [
        ("linear", "linear"), ("quadratic", "quadratic"), ("bilinear", "separate"),
        ("bilinear-tanh", "separate-tanh"), ("distance", "separate"),
    ],
)  # fmt: skip
def test_groups_go_with_any_functional(individual, kind, rng):
    """A group of one document each is that functional itself."""
    train = random_queries(rng, [3] * 40, 6, levels=3)
    with unlocked(train):
        train.labels[:] = np.tile([0, 1, 2], 40)
    settings = {"iterations": 15, "query_features": 2}
    drawn = [np.random.default_rng(1) for _ in range(2)]
    alone = ranker("wpl")(functional=individual, **settings).fit_sets(train, rng=drawn[0])
    group = ranker("wpl")(functional="group", individual=individual, **settings)
    group.fit_sets(train, rng=drawn[1])
    assert group.learned.model.kind == alone.learned.model.kind == kind
    assert group.draws == alone.draws
    np.testing.assert_allclose(
        group.predict(train.features), alone.predict(train.features), rtol=1e-5, atol=1e-6
    )
