"""AdaRank: its objective, its first round by hand, its directions, its end."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.measures import PreparedMetric, parse, query_metrics
from letorbench.rankers import Ranker, adarank, ranker
from letorbench.solvers.stopping import Validation, best

BOTH = {"adarank-map": "map", "adarank-ndcg": "ndcg@10"}


def E(queries: QuerySet, scores: np.ndarray, measure: str) -> np.ndarray:
    standard = CONVENTIONS["standard"]
    return query_metrics(queries.labels, scores, queries.offsets, [parse(measure)], standard)[:, 0]


def hinted(rng: np.random.Generator, lengths: list[int]) -> QuerySet:
    """Features 1 and 2 say something of the label, 0 the opposite, the others nothing."""
    queries = random_queries(rng, lengths, n_features=5)
    with unlocked(queries):
        queries.features[:, 0] -= queries.labels
        queries.features[:, 1:3] += queries.labels[:, None]
    return queries


def test_the_step_is_the_papers(rng: np.random.Generator) -> None:
    for _ in range(20):
        P, E_k = adarank.distribution(rng.random(9)), rng.random(9)
        alpha = 0.5 * np.log((P * (1.0 + E_k)).sum() / (P * (1.0 - E_k)).sum())
        assert P.sum() == pytest.approx(1.0)
        assert adarank.step(P, E_k) == pytest.approx(alpha, rel=1e-12)
    assert adarank.step(np.array([0.5, 0.5]), np.ones(2)) == 5.0


@pytest.mark.parametrize("name", BOTH)
def test_the_booster_weighs_and_steps_by_the_equations(rng: np.random.Generator, name: str) -> None:
    train = hinted(rng, [12, 7, 1, 30] * 4)
    cls = ranker(name)
    metric = PreparedMetric.of(train.labels, train.offsets, cls().measure, CONVENTIONS["standard"])
    booster = adarank._Booster(train, metric, both=True)
    scores = rng.normal(size=train.n_docs)
    E_t = E(train, scores, BOTH[name])
    P, value = booster.weigh(scores)
    np.testing.assert_allclose(P, adarank.distribution(E_t), rtol=1e-12)
    assert value == pytest.approx(adarank.objective(E_t), rel=1e-12)
    term = booster.choose(scores, P)
    E_k = E(train, term.learner(train.features), BOTH[name])
    assert term.alpha == pytest.approx(adarank.step(P, E_k), rel=1e-12)
    moved = E(train, scores + term.alpha * term.values, BOTH[name])
    assert adarank.objective(moved) < value


@pytest.mark.parametrize("name", BOTH)
@pytest.mark.parametrize("directions", ["ascending", "both"])
def test_objective_is_what_it_says_and_never_rises(
    rng: np.random.Generator, name: str, directions: str
) -> None:
    train = hinted(rng, [1, 30, 12, 5, 40, 2, 17] * 3)
    with unlocked(train):
        train.labels[1:31] = 0
    model = ranker(name)(directions=directions).fit_sets(train)
    values = model.learned.objective
    assert values[0] == 1.0 and len(values) > 2
    assert all(after < before for before, after in pairwise(values))
    reached = np.exp(-E(train, model.predict(train.features), BOTH[name])).mean()
    assert values[-1] == pytest.approx(reached, rel=1e-9)
    assert (model.learned.model.weights < 0).any() == (directions == "both")


@pytest.mark.parametrize("name", BOTH)
def test_first_round_takes_the_best_feature(rng: np.random.Generator, name: str) -> None:
    train = hinted(rng, [20] * 10)
    alone = [E(train, column.astype(float), BOTH[name]).mean() for column in train.features.T]
    weights = ranker(name)(rounds=1).fit_sets(train).learned.model.weights
    best = int(np.argmax(alone))
    assert np.flatnonzero(weights).tolist() == [best]
    alpha = 0.5 * np.log((1.0 + alone[best]) / (1.0 - alone[best]))
    assert weights[best] == pytest.approx(alpha, rel=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_second_round_weighs_queries_by_the_first(rng: np.random.Generator, name: str) -> None:
    train = hinted(rng, [12] * 15)
    first = ranker(name)(rounds=1).fit_sets(train)
    P = np.exp(-E(train, first.predict(train.features), BOTH[name]))
    alone = np.array([E(train, c.astype(float), BOTH[name]) for c in train.features.T])
    agreement = alone @ (P / P.sum())
    second = ranker(name)(rounds=2).fit_sets(train)
    added = second.learned.model.weights - first.learned.model.weights
    (k,) = np.flatnonzero(added)
    alpha = 0.5 * np.log((1.0 + agreement[k]) / (1.0 - agreement[k]))
    assert added[k] == pytest.approx(alpha, rel=1e-9)
    # those passed over were better by weight, but lowered nothing
    for other in np.flatnonzero(agreement > agreement[k]):
        step = np.arctanh(agreement[other])
        moved = first.predict(train.features) + step * train.features[:, other]
        assert np.exp(-E(train, moved, BOTH[name])).mean() >= P.mean()


@pytest.mark.parametrize("name", BOTH)
def test_training_ends_where_a_quarter_of_alpha_lowers_nothing(
    rng: np.random.Generator, name: str
) -> None:
    train = hinted(rng, [15] * 12)
    model = ranker(name)().fit_sets(train)
    scores, reached = model.predict(train.features), model.learned.objective[-1]
    assert len(model.learned.objective) < 200
    P = adarank.distribution(E(train, scores, BOTH[name]))
    for column in train.features.T.astype(float):
        alpha = adarank.step(P, E(train, column, BOTH[name]))
        moved = E(train, scores + alpha / 4.0 * column, BOTH[name])
        assert adarank.objective(moved) >= reached - 1e-9


def test_a_perfect_feature_ends_the_training(rng: np.random.Generator) -> None:
    train = random_queries(rng, [20, 20], levels=3)
    with unlocked(train):
        train.labels[[0, 20]] = 2
        train.features[:, 3] = train.labels
    model = ranker("adarank-ndcg")().fit_sets(train)
    assert model.learned.model.weights.tolist() == [0.0, 0.0, 0.0, 5.0, 0.0]


@pytest.mark.parametrize("name", BOTH)
def test_the_best_round_on_validation_is_kept(rng: np.random.Generator, name: str) -> None:
    train, valid = hinted(rng, [20] * 20), Validation(hinted(rng, [20] * 8), rule=best)
    model = ranker(name)().fit_sets(train, valid)
    curve, chosen = model.learned.curve, model.learned.best
    assert curve[chosen - 1] == max(curve)
    kept = valid(model.predict(valid.queries.features)).mean()
    assert kept == pytest.approx(max(curve), abs=1e-12)


@pytest.mark.parametrize("name", BOTH)
def test_nothing_relevant_learns_nothing_and_says_so(rng: np.random.Generator, name: str) -> None:
    model: Ranker = ranker(name)().fit_sets(random_queries(rng, [5, 5], levels=1))
    assert not model.learned.model.weights.any() and model.learned.warnings


def test_wrong_settings_are_named(rng: np.random.Generator) -> None:
    with pytest.raises(UsageError, match="found directions=up, expected ascending or both"):
        ranker("adarank-map")(directions="up").fit_sets(random_queries(rng, [4]))
    with pytest.raises(UsageError, match="found cutoff=0, expected 1 or more"):
        ranker("adarank-ndcg")(cutoff=0).fit_sets(random_queries(rng, [4]))
