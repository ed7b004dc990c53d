"""Per-query descent: its schedule, its warnings, and compiled epochs against the NumPy steps."""

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.measures import nDCG, query_metrics
from letorbench.models.mlp import Layers
from letorbench.rankers.lambdarank import lambdarank_step
from letorbench.rankers.ranknet import ranknet_step
from letorbench.solvers import sgd
from letorbench.solvers.sgd import (
    FeatureScale,
    NetDescent,
    NetState,
    TrainingQueries,
    epoch,
)


def learnable(rng: np.random.Generator, n_queries: int = 40) -> QuerySet:
    """Labels that a linear score of the features orders without an error."""
    drawn = random_queries(rng, [12] * n_queries, n_features=6)
    score = drawn.features @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0], np.float32)
    labels = np.digitize(score, [0.5, 2.0]).astype(np.int32)
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_cost_of_an_epoch_is_one_minus_ndcg_at_10(layers, rng):
    """Steps too short to matter: every query's cost is that of the first weights."""
    train = random_queries(rng, [25, 12, 4, 30, 9], levels=4)
    learned = NetDescent(layers, 4, 1e-9, epochs=2, patience=0).descend(Lambda(), train, None, rng)
    scores = learned.model.predict(train.features)
    ten, five = (
        query_metrics(train.labels, scores, train.offsets, [nDCG @ k], CONVENTIONS["standard"])
        for k in (10, 5)
    )
    assert learned.objective == pytest.approx([(1.0 - ten).sum()] * 2, rel=1e-6)
    assert abs((ten - five).sum()) > 0.01


def test_the_rate_falls_with_a_higher_cost_and_stuck_weights_are_drawn_anew(monkeypatch, rng):
    """A restart forgets the costs before it: they are no measure for the new weights."""
    costs = [1.0, 2.0, 1.5, 1.9, 2.0, 2.0, 9.0, 8.0, 7.0, 8.0, 3.0]
    rates, first_weights = [], []

    def scripted(steps, data, sequence, state, scale, rate) -> float:
        rates.append(rate)
        first_weights.append(float(state.weights[0, 0]))
        return costs[len(rates) - 1]

    monkeypatch.setattr(sgd, "epoch", scripted)
    monkeypatch.setattr(sgd, "RESTART", 5)
    NetDescent(1, 1, 1.0, len(costs), patience=0).descend(Lambda(), learnable(rng, 3), None, rng)
    assert rates == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.64, 0.512, 1.0, 1.0, 1.0, 1.0, 0.8])
    assert len(set(first_weights[:6])) == 1 and len(set(first_weights[6:])) == 1
    assert first_weights[5] != first_weights[6]


def test_a_rate_far_too_large_is_said(rng):
    learned = NetDescent(1, 1, 1e308, 20).descend(Lambda("ranknet"), learnable(rng, 5), None, rng)
    assert "learning rate is too large" in learned.warnings[0].text
    assert np.isfinite(learned.model.weights).all()


def test_constant_features_get_no_weight(rng):
    train = learnable(rng, 10)
    with unlocked(train):
        train.features[:, 3] = 7.0
    learned = NetDescent(2, 4, 0.1, epochs=3).descend(Lambda(), train, None, rng)
    assert (learned.model.weights[:, 3] == 0.0).all()


def draw(rng: np.random.Generator, layers: int, hidden: int, n_features: int) -> Layers:
    units = hidden if layers == 2 else 1
    weights = rng.normal(size=(units, n_features))
    return Layers(weights, rng.normal(size=units), rng.normal(size=units if layers == 2 else 0))


def run(
    queries: QuerySet,
    function: Lambda,
    net: Layers,
    sequence: list[int],
    rate: float,
    scale: FeatureScale | None = None,
) -> tuple[float, Layers]:
    """One epoch on a copy of the net; the cost and the new net."""
    weights, bias, output = (part.copy() for part in net)
    n = queries.n_features
    cost = epoch(
        sgd.ranknet_steps if function.is_ranknet else sgd.lambda_steps,
        TrainingQueries.of(queries, function),
        np.array(sequence, np.int64),
        NetState(weights, bias, output, weights.astype(np.float32)),
        scale or FeatureScale(np.zeros(n), np.ones(n)),
        rate,
    )
    return cost, Layers(weights, bias, output)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("function", [Lambda(), Lambda(truncation=5), Lambda("ranknet")])
def test_an_epoch_is_the_rankers_step_on_each_query(layers, function, rng):
    queries = random_queries(rng, [15, 3, 8, 20], n_features=11, levels=3)
    net = draw(rng, layers, 4, 11)
    center, inverse_variance = rng.normal(size=11), rng.random(11) + 0.5
    scale = FeatureScale(center, inverse_variance)
    cost, ours = run(queries, function, net, [2, 0, 3], 0.1, scale=scale)
    # the reference scales the features themselves, and its weights to match
    x = ((queries.features - center) * np.sqrt(inverse_variance)).astype(np.float64)
    expected = Layers(
        net.weights / np.sqrt(inverse_variance), net.bias + net.weights @ center, net.output
    )
    costs = 0.0
    for q in [2, 0, 3]:
        rows = slice(queries.offsets[q], queries.offsets[q + 1])
        if function.is_ranknet:
            before, expected = ranknet_step(expected, x[rows], queries.labels[rows], 0.1)
            costs += before
        else:
            expected = lambdarank_step(expected, x[rows], queries.labels[rows], 0.1, function)
    weights = expected.weights * np.sqrt(inverse_variance)
    wanted = (weights, expected.bias - weights @ center, expected.output)
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=3e-5)
    if function.is_ranknet:
        assert cost == pytest.approx(costs, rel=1e-5)
    else:
        assert 0.0 <= cost <= 3.0
