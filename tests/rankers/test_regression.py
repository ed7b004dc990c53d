"""Least squares against numpy's solver."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.rankers.regression import Regression


@pytest.mark.parametrize("l2", [0.0, 3.0])
@pytest.mark.parametrize("target", ["label", "gain"])
def test_against_an_independent_solver(rng: np.random.Generator, l2: float, target: str) -> None:
    train = random_queries(rng, [30, 50, 20], n_features=6, levels=5)
    y = train.labels if target == "label" else 2.0**train.labels - 1
    x = np.column_stack([train.features.astype(np.float64), np.ones(train.n_docs)])
    penalty = np.diag(np.append(np.full(6, np.sqrt(l2)), 0.0))
    expected = np.linalg.lstsq(np.vstack([x, penalty]), np.append(y, np.zeros(7)), rcond=None)[0]
    scorer = Regression(l2=l2, target=target).fit_sets(train).learned.model
    np.testing.assert_allclose(np.append(scorer.weights, scorer.bias), expected, atol=1e-9)


def test_constant_and_repeated_features_do_no_harm(rng: np.random.Generator) -> None:
    train = random_queries(rng, [60, 40], n_features=5)
    with unlocked(train):
        train.features[:, 1] = 7.0
        train.features[:, 3] = train.features[:, 0]
    ranker = Regression().fit_sets(train)
    x = np.column_stack([train.features[:, [0, 2, 4]].astype(np.float64), np.ones(100)])
    expected = x @ np.linalg.lstsq(x, train.labels, rcond=None)[0]
    np.testing.assert_allclose(ranker.predict(train.features), expected, atol=1e-8)
    weights = ranker.learned.model.weights
    assert weights[0] == pytest.approx(weights[3]) and abs(weights[1]) < 1e-12
