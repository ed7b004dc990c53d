"""NDCG Boost: the bound, the objective, the two stump searches, the published behaviour."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.rankers.ndcgboost import NDCGBoost


def objective(queries, scores: np.ndarray) -> float:
    """Equation (11) without 1/n, by its definition."""
    total = 0.0
    for begin, end in zip(queries.offsets, queries.offsets[1:]):
        gain = 2.0 ** queries.labels[begin:end] - 1.0
        z = (np.sort(gain)[::-1] / np.log2(2 + np.arange(end - begin))).sum()
        if z == 0:
            continue
        f = scores[begin:end]
        above = 1.0 / (1.0 + np.exp(f[:, None] - f[None, :]))
        np.fill_diagonal(above, 0.0)
        total += float((gain * above.sum(axis=1)).sum() / z)
    return total


@pytest.mark.parametrize("stumps", ["exact", "sample"])
@pytest.mark.parametrize("bins", [None, 8])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, stumps: str, bins: int | None
) -> None:
    train = random_queries(rng, [1, 30, 12, 5, 40, 2, 17], levels=4)
    train.labels[train.offsets[3] : train.offsets[4]] = 0
    ranker = NDCGBoost(rounds=60, stumps=stumps, bins=bins).fit_sets(train)
    values = ranker.learned.objective
    assert values[0] == pytest.approx(objective(train, np.zeros(train.n_docs)), rel=1e-12)
    assert values[-1] == pytest.approx(objective(train, ranker.predict(train.features)), rel=1e-9)
    assert len(values) == 61
    assert all(after <= before * (1 + 1e-12) for before, after in zip(values, values[1:]))
    assert values[-1] < 0.9 * values[0]


def test_a_perfect_feature_gives_the_longest_step(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    train.features[:, 3] = train.labels
    ranker = NDCGBoost(rounds=1).fit_sets(train)
    scorer = ranker.learned.model
    assert (scorer.feature[0], scorer.above[0], scorer.alpha[0]) == (3, True, 5.0)


def test_nothing_relevant_learns_nothing_and_says_so(rng: np.random.Generator) -> None:
    train = random_queries(rng, [5, 5])
    train.labels[:] = 0
    ranker = NDCGBoost().fit_sets(train)
    assert not ranker.predict(train.features).any()
    assert ranker.learned.warnings


def test_wrong_stumps_are_named() -> None:
    with pytest.raises(UsageError, match="found stumps=best, expected exact or sample"):
        NDCGBoost(stumps="best").fit_sets(random_queries(np.random.default_rng(0), [4]))
