"""Per-query descent: what it keeps, its schedule, its randomness, its warnings."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.lambdas import Lambda
from letorbench.measures import nDCG, query_metrics
from letorbench.solvers import sgd
from letorbench.solvers.sgd import Schedule, descend_per_query
from letorbench.solvers.validation import Validation


def learnable(rng: np.random.Generator, n_queries: int = 40) -> QuerySet:
    """Labels that a linear score of the features orders without an error."""
    drawn = random_queries(rng, [12] * n_queries, n_features=6)
    score = drawn.features @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0], np.float32)
    labels = np.digitize(score, [0.5, 2.0]).astype(np.int32)
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


@pytest.mark.parametrize("function", [Lambda("ranknet"), Lambda(), Lambda(truncation=5)])
@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("standardise", [False, True])
def test_it_learns_what_can_be_learned(function, layers, standardise, rng):
    train, held_out = learnable(rng), Validation(learnable(rng))
    schedule = Schedule(0.05, epochs=100, standardise=standardise)
    learned = descend_per_query(function, layers, 10, schedule, train, held_out, rng)
    kept = held_out(learned.model.predict(held_out.queries.features)).mean()
    assert kept > 0.97
    # the scorer kept is the very one that was measured
    assert kept == learned.curve[learned.best - 1]
    assert learned.objective[-1] < learned.objective[0]


def test_the_same_generator_gives_the_same_net(rng):
    train, held_out = learnable(rng), Validation(learnable(rng))
    one, two, three = (
        descend_per_query(
            Lambda(), 2, 4, Schedule(0.05, epochs=5), train, held_out, np.random.default_rng(seed)
        )
        for seed in (1, 1, 2)
    )
    assert one.curve == two.curve and np.array_equal(one.model.weights, two.model.weights)
    assert not np.array_equal(one.model.weights, three.model.weights)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_cost_of_an_epoch_is_one_minus_ndcg_at_10(layers, rng):
    """Steps too short to matter: every query's cost is that of the first weights."""
    train = random_queries(rng, [25, 12, 4, 30, 9], levels=4)
    schedule = Schedule(1e-9, epochs=2)
    learned = descend_per_query(Lambda(), layers, 4, schedule, train, None, rng)
    scores = learned.model.predict(train.features)
    ten, five = (
        query_metrics(train.labels, scores, train.offsets, [nDCG @ k], CONVENTIONS["standard"])
        for k in (10, 5)
    )
    assert learned.objective == pytest.approx([(1.0 - ten).sum()] * 2, rel=1e-6)
    assert abs((ten - five).sum()) > 0.01


@pytest.fixture
def costs(monkeypatch):
    """Replace the epochs by a list of costs; gives the rates they were asked for."""

    def script(values: list[float]) -> list[float]:
        rates: list[float] = []

        def epoch(data, sequence, state, scale, rate) -> float:
            rates.append(rate)
            return values[len(rates) - 1]

        monkeypatch.setattr(sgd, "epoch", epoch)
        return rates

    return script


def test_the_rate_falls_when_the_cost_rises(costs, rng):
    rates = costs([5.0, 4.0, 4.5, 4.4, 4.6, 1.0])
    train = learnable(rng, 3)
    descend_per_query(Lambda(), 1, 1, Schedule(1.0, epochs=6), train, None, rng)
    assert rates == pytest.approx([1.0, 1.0, 1.0, 0.8, 0.8, 0.64])


def test_new_weights_are_drawn_when_the_cost_stops_falling(costs, rng):
    costs([1.0] + [2.0] * 20)
    train = learnable(rng, 3)
    short, long = (
        descend_per_query(
            Lambda(), 1, 1, Schedule(1.0, epochs=epochs, restart=5), train, None,
            np.random.default_rng(3),
        )
        for epochs in (5, 8)
    )  # fmt: skip
    assert not np.array_equal(short.model.weights, long.model.weights)


def test_a_restart_takes_the_first_rate_again(costs, rng):
    rates = costs([1.0] + [2.0] * 10)
    train = learnable(rng, 3)
    descend_per_query(Lambda(), 1, 1, Schedule(1.0, epochs=8, restart=5), train, None, rng)
    # the first fall, five epochs without one, then anew
    assert rates == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.8, 0.8, 1.0, 1.0])


def test_a_restart_forgets_the_costs_before_it(costs, rng):
    """What was reached before is no measure for the new weights."""
    rates = costs([1.0] + [2.0] * 5 + [9.0, 8.0, 7.0, 6.0, 5.0, 4.0, 5.0, 3.0])
    train = learnable(rng, 3)
    descend_per_query(Lambda(), 1, 1, Schedule(1.0, epochs=14, restart=5), train, None, rng)
    assert rates[6:] == pytest.approx([1.0] * 7 + [0.8])


def test_a_rate_far_too_large_is_said(rng):
    train = learnable(rng, 5)
    learned = descend_per_query(
        Lambda("ranknet"), 1, 1, Schedule(1e308, epochs=20), train, None, rng
    )
    assert "learning rate is too large" in learned.warnings[0].text
    assert np.isfinite(learned.model.weights).all()


def test_constant_features_get_no_weight(rng):
    drawn = learnable(rng, 10)
    features = drawn.features.copy()
    features[:, 3] = 7.0
    train = QuerySet(features, drawn.labels, drawn.offsets, drawn.qids)
    learned = descend_per_query(Lambda(), 2, 4, Schedule(0.1, epochs=3), train, None, rng)
    assert (learned.model.weights[:, 3] == 0.0).all()


def test_no_pair_anywhere_is_no_error(rng):
    drawn = random_queries(rng, [4, 1], levels=1)
    learned = descend_per_query(Lambda(), 2, 3, Schedule(0.1, epochs=2), drawn, None, rng)
    assert np.isfinite(learned.model.predict(drawn.features)).all()


@pytest.mark.parametrize("layers, hidden, rate", [(3, 10, 0.1), (2, 0, 0.1), (2, 10, 0.0)])
def test_what_makes_no_sense_is_refused(layers, hidden, rate, rng):
    with pytest.raises(UsageError):
        descend_per_query(Lambda(), layers, hidden, Schedule(rate), learnable(rng, 2), None, rng)
