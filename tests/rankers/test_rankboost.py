"""RankBoost: its objective and bound, its first round by hand, its longest step."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.rankers import rankboost
from letorbench.rankers.rankboost import RankBoost, pairs
from letorbench.solvers.stopping import Validation, best
from letorbench.solvers.stump_search import BinnedFeatures


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("span", [0.0, 600.0])
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_the_kernels_compute_the_equations(
    rng: np.random.Generator, spread: float, span: float, levels: int
) -> None:
    """`span` puts the labels far apart, in the right order: exp of it is no float64."""
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3], levels=levels)
    with unlocked(queries):
        queries.labels[3:10] = 0
    scores = spread * rng.normal(size=queries.n_docs)
    scores[: queries.n_docs // 2] += span * queries.labels[: queries.n_docs // 2]
    booster = rankboost._Booster(queries, BinnedFeatures.of(queries.features))
    booster.least = 1  # a thread for every query
    pi, loss = booster.weigh(scores)
    if levels == 1:
        assert loss == 0.0 and not pi.any()
        return
    expected = rankboost.potentials(scores, queries)
    assert loss == pytest.approx(rankboost.objective(scores, queries), rel=1e-10)
    np.testing.assert_allclose(pi, expected, rtol=1e-9, atol=1e-12)


def test_the_equations_by_hand() -> None:
    """One document of label 1 and two of label 0, one of them a whole unit above."""
    queries = random_queries(np.random.default_rng(0), [3], levels=1)
    with unlocked(queries):
        queries.labels[:] = [0, 1, 0]
    H, e = np.array([1.0, 0.0, 0.0]), np.e
    assert rankboost.objective(H, queries) == pytest.approx((e + 1) / 2)
    expected = np.array([-e, e + 1, -1]) / (e + 1)
    np.testing.assert_allclose(rankboost.potentials(H, queries), expected)


@pytest.mark.parametrize("bins", [None, 8])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, bins: int | None
) -> None:
    train = random_queries(rng, [1, 30, 12, 5, 40, 2, 17], levels=4)
    with unlocked(train):
        train.labels[train.offsets[3] : train.offsets[4]] = 0
    model = RankBoost(rounds=60, bins=bins).fit_sets(train)
    values = model.learned.objective
    scores = model.predict(train.features)
    i, j = pairs(train)
    assert values[0] == pytest.approx(1.0, rel=1e-12)
    assert values[-1] == pytest.approx(np.exp(scores[j] - scores[i]).mean(), rel=1e-9)
    assert len(values) == 61
    assert all(after <= before * (1 + 1e-12) for before, after in pairwise(values))
    assert values[-1] < 0.9


def test_first_round_is_the_best_of_all_stumps(rng: np.random.Generator) -> None:
    train = random_queries(rng, [12, 9, 15])
    i, j = pairs(train)
    best = 0.0
    for column in train.features.T:
        for value in np.unique(column)[:-1]:
            h = (column > value).astype(float)
            best = max(best, abs((h[i] - h[j]).mean()))
    model = RankBoost(rounds=1, bins=None).fit_sets(train)
    assert model.learned.model.alpha[0] == pytest.approx(0.5 * np.log((1 + best) / (1 - best)))
    assert model.learned.objective[1] <= np.sqrt(1.0 - best**2) + 1e-12


def test_a_perfect_feature_gives_the_longest_step(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = train.labels
    scorer = RankBoost(rounds=1).fit_sets(train).learned.model
    assert (scorer.feature[0], scorer.above[0], scorer.alpha[0]) == (3, True, 5.0)


def test_steps_without_end_stay_finite(rng: np.random.Generator) -> None:
    """300 of the longest steps: the ratio of the scores' exponentials is no float64."""
    train = random_queries(rng, [20, 20], levels=2)
    with unlocked(train):
        train.features[:, 3] = train.labels
    model = RankBoost().fit_sets(train)
    assert np.isfinite(model.learned.objective).all()
    assert np.isfinite(model.predict(train.features)).all()


def test_patience_ends_training_after_the_best_round(rng: np.random.Generator) -> None:
    train, valid = random_queries(rng, [20] * 20), random_queries(rng, [20] * 8)
    learned = RankBoost(patience=7).fit_sets(train, Validation(valid, rule=best)).learned
    assert len(learned.curve) == learned.best + 7
    assert learned.curve[learned.best - 1] == max(learned.curve)
    assert len(learned.model.alpha) == learned.best
    whole = RankBoost(patience=0, rounds=50).fit_sets(train, Validation(valid)).learned
    assert len(whole.curve) == 50


def test_no_pairs_learn_nothing_and_say_so(rng: np.random.Generator) -> None:
    model = RankBoost().fit_sets(random_queries(rng, [5, 5], levels=1))
    assert not len(model.learned.model.alpha) and model.learned.warnings
