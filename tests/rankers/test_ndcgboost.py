"""NDCG Boost: the bound, the objective, the two stump searches, the published behaviour."""

from __future__ import annotations

from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import standard_discount
from letorbench.errors import UsageError
from letorbench.rankers import ndcgboost
from letorbench.rankers.ndcgboost import NDCGBoost


def no_stump(weights: np.ndarray) -> None:
    """A search that finds nothing."""


@pytest.mark.parametrize("spread", [0.0, 1.0, 12.0, 50.0, 400.0])
def test_the_kernels_compute_the_equations(rng: np.random.Generator, spread: float) -> None:
    for lengths in ([1, 2, 40, 7, 33, 3], [5], [9, 9, 0, 17]):
        queries = random_queries(rng, lengths, levels=4)
        with unlocked(queries):
            queries.labels[: lengths[0]] = 0
        F, f = spread * rng.normal(size=queries.n_docs), rng.random(queries.n_docs) < 0.4
        booster = ndcgboost._Booster(queries, no_stump, None, 0)
        booster.least = 1  # a thread for every query
        w, M = booster.weigh(F)
        np.testing.assert_allclose(w, ndcgboost.weights(F, queries), rtol=1e-10, atol=1e-13)
        assert M == pytest.approx(ndcgboost.objective(F, queries), rel=1e-10)
        expected = ndcgboost.step(F, f, queries)
        assert booster._step(F, f) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_the_equations_by_hand() -> None:
    """Two documents of labels 1 and 0: Z = 1, theta = 1/4 at equal scores."""
    queries = random_queries(np.random.default_rng(0), [2], levels=1)
    with unlocked(queries):
        queries.labels[:] = [1, 0]
    F = np.zeros(2)
    assert ndcgboost.objective(F, queries) == 0.5
    assert ndcgboost.weights(F, queries).tolist() == [0.25, -0.25]
    assert ndcgboost.step(F, np.array([True, False]), queries) == 5.0
    assert ndcgboost.step(F, np.array([False, True]), queries) == -5.0
    assert ndcgboost.step(F, np.array([True, True]), queries) == 0.0


def test_the_step_by_hand() -> None:
    """Three queries that the stump ranks right and one that it ranks wrong: 1/2 ln 3."""
    queries = random_queries(np.random.default_rng(0), [2, 2, 2, 2], levels=1)
    with unlocked(queries):
        queries.labels[:] = [1, 0] * 4
    f = np.array([True, False] * 3 + [False, True])
    expected = 0.5 * np.log(3.0)
    assert ndcgboost.step(np.zeros(8), f, queries) == pytest.approx(expected)
    with unlocked(queries):
        queries.features[:] = 0.0
        queries.features[:, 2] = f
    learned = NDCGBoost(rounds=1).fit_sets(queries).learned
    assert learned.model.alpha.tolist() == pytest.approx([expected])
    assert learned.model.feature.tolist() == [2]


def test_the_weights_are_the_slope_of_the_objective(rng: np.random.Generator) -> None:
    """Equation (16) is minus the derivative of (11) by F, up to the pairs counted twice."""
    queries = random_queries(rng, [6, 9], levels=3)
    F = rng.normal(size=queries.n_docs)
    w = ndcgboost.weights(F, queries)
    for i in range(queries.n_docs):
        moved = np.eye(queries.n_docs)[i] * 1e-5
        up, down = ndcgboost.objective(F + moved, queries), ndcgboost.objective(F - moved, queries)
        assert w[i] == pytest.approx((down - up) / 2e-5, rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("stumps", ["exact", "sample"])
@pytest.mark.parametrize("bins", [None, 8])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, stumps: str, bins: int | None
) -> None:
    train = random_queries(rng, [1, 30, 12, 5, 40, 2, 17], levels=4)
    with unlocked(train):
        train.labels[train.offsets[3] : train.offsets[4]] = 0
    ranker = NDCGBoost(rounds=60, stumps=stumps, bins=bins).fit_sets(train)
    values = ranker.learned.objective
    assert values[0] == pytest.approx(ndcgboost.objective(np.zeros(train.n_docs), train), rel=1e-12)
    assert values[-1] == pytest.approx(
        ndcgboost.objective(ranker.predict(train.features), train), rel=1e-9
    )
    assert len(values) == 61
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert values[-1] < 0.9 * values[0]


def test_a_perfect_feature_gives_the_longest_step(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = train.labels
    ranker = NDCGBoost(rounds=1).fit_sets(train)
    scorer = ranker.learned.model
    assert (scorer.feature[0], scorer.above[0], scorer.alpha[0]) == (3, True, 5.0)


def test_nothing_relevant_learns_nothing_and_says_so(rng: np.random.Generator) -> None:
    train = random_queries(rng, [5, 5])
    with unlocked(train):
        train.labels[:] = 0
    ranker = NDCGBoost().fit_sets(train)
    assert not ranker.predict(train.features).any()
    assert ranker.learned.warnings


def test_wrong_stumps_are_named() -> None:
    with pytest.raises(UsageError, match="expected a number above 0 with stumps=sample"):
        NDCGBoost(sample=50).fit_sets(random_queries(np.random.default_rng(0), [4]))
    with pytest.raises(UsageError, match="found stumps=best, expected exact or sample"):
        NDCGBoost(stumps="best").fit_sets(random_queries(np.random.default_rng(0), [4]))


@pytest.mark.parametrize("rounds", [0, -5])
def test_rounds_that_are_none_are_refused(rounds: int) -> None:
    with pytest.raises(UsageError, match=f"found rounds={rounds}, expected 1 or more"):
        NDCGBoost(rounds=rounds).fit_sets(random_queries(np.random.default_rng(0), [4]))


def test_the_sample_has_the_size_that_is_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    drawn = []
    found = ndcgboost.best_of_all
    monkeypatch.setattr(
        ndcgboost,
        "best_of_all",
        lambda ordered, w: drawn.append(np.abs(w).sum()) or found(ordered, w),
    )
    train = random_queries(np.random.default_rng(0), [20, 30])
    for size, expected in ((7, 7), (None, train.n_docs)):
        drawn.clear()
        NDCGBoost(stumps="sample", sample=size, rounds=3).fit_sets(train)
        assert set(drawn) == {expected}


def test_the_normaliser_can_end_at_a_rank(rng: np.random.Generator) -> None:
    """A query weighs more where its ideal DCG is cut; at the longest query nothing changes."""
    queries = random_queries(rng, [12, 5, 20], levels=4)
    F = rng.normal(size=queries.n_docs)
    whole, cut, long = (
        ndcgboost._Booster(queries, no_stump, None, k).weigh(F)[0] for k in (0, 3, 20)
    )
    np.testing.assert_array_equal(whole, long)
    for begin, end in zip(queries.offsets[:-1], queries.offsets[1:]):
        gain = np.sort(np.exp2(queries.labels[begin:end]) - 1.0)[::-1]
        d = standard_discount(np.arange(1, len(gain) + 1))
        ratio = float(gain @ d / (gain[:3] @ d[:3]))
        np.testing.assert_allclose(cut[begin:end], ratio * whole[begin:end], rtol=1e-12)
    with pytest.raises(UsageError):
        ndcgboost.NDCGBoost(truncation=-1).fit_sets(queries)


def test_a_weight_that_is_zero_but_for_its_rounding_moves_no_draw(rng):
    weights = np.where(np.arange(60) % 3 == 0, 0.0, rng.normal(size=60))
    rounded = np.where(weights == 0.0, 1e-20, weights)
    first, second = (
        SimpleNamespace(draw=ndcgboost._Draw(np.random.default_rng(5), 40)) for _ in range(2)
    )
    drawn = ndcgboost._Booster._sample(first, weights)
    assert np.array_equal(drawn, ndcgboost._Booster._sample(second, rounded))
    assert np.abs(drawn).sum() == 40
