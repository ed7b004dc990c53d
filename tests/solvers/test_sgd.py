"""Per-query descent: its schedule, its warnings, and compiled epochs against the NumPy steps."""

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import Lambda
from letorbench.measures import nDCG, query_metrics
from letorbench.models.mlp import Layers, net_scores
from letorbench.rankers.lambdarank import lambda_steps, lambdarank_step
from letorbench.rankers.ranknet import ranknet_step, ranknet_steps
from letorbench.solvers import sgd
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.sgd import (
    FeatureScale,
    NetDescent,
    NetState,
    Passes,
    TrainingQueries,
    feature_scale,
)
from letorbench.solvers.stopping import Validation


def learnable(rng: np.random.Generator, n_queries: int = 40) -> QuerySet:
    """Labels that a linear score of the features orders without an error."""
    drawn = random_queries(rng, [12] * n_queries, n_features=6)
    score = drawn.features @ np.array([2.0, -1.0, 0.5, 0.0, 0.0, 0.0], np.float32)
    labels = np.digitize(score, [0.5, 2.0]).astype(np.int32)
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


@pytest.mark.parametrize("spoiled", ["cost", "bias", "output"])
def test_the_rate_falls_stuck_weights_are_drawn_anew_and_no_numbers_are_kept(spoiled, monkeypatch):
    """A restart forgets the costs before it: they are no measure for the new weights."""
    costs = [1.0, 2.0, 1.5, 1.9, 2.0, 2.0, 9.0, 8.0, 7.0, 8.0, 3.0]
    rates, first_weights = [], []

    def scripted(data, sequence, state, scale, rate, passes) -> float:
        rates.append(rate)
        first_weights.append(float(state.weights[0, 0]))
        state.weights_f32[:] = len(rates)
        if len(rates) == 12 and spoiled != "cost":
            getattr(state, spoiled)[-1] = np.inf
        return [*costs, np.nan if spoiled == "cost" else 0.0][len(rates) - 1]

    monkeypatch.setattr(sgd, "RESTART", 5)
    rng = np.random.default_rng(0)
    train = learnable(rng, 3)
    descent = NetDescent(2, 2, 1.0, 20, patience=0)
    found = descent.descend(scripted, train, Validation(train), rng)
    assert rates == pytest.approx([1.0, 1.0, 0.8, 0.8, 0.64, 0.512, 1.0, 1.0, 1.0, 1.0, 0.8, 0.8])
    assert len(set(first_weights[:6])) == 1 and len(set(first_weights[6:])) == 1
    assert first_weights[5] != first_weights[6]
    text = "epoch 12 gave a number that is not finite: the learning rate is too large"
    assert found.warnings == (FitWarning("no numbers", text),) and not found.cut_off
    assert (found.model.weights == found.best).all() and 0 < found.best <= 11
    assert found.objective == tuple(costs) and len(found.curve) == 11


def test_patience_ends_it_and_fifty_epochs_without_a_fall_draw_new_weights(rng):
    """The weights never move, so that no epoch improves on the first until they are drawn anew."""
    train, first = learnable(rng, 3), []

    def idle(data, sequence, state, scale, rate, passes) -> float:
        first.append(float(state.weights[0, 0]))
        return 1.0

    for patience, epochs in ((1, 2), (7, 8), (0, 60)):
        first.clear()
        descent = NetDescent(1, epochs=60, patience=patience)
        learned = descent.descend(idle, train, Validation(train), rng)
        assert len(first) == len(learned.curve) == epochs
    # the first epoch's cost is a fall from infinity, and fifty that are no lower follow it
    assert len(set(first[:51])) == 1 and len(set(first[51:])) == 1 and first[50] != first[51]


def test_a_rate_far_too_large_leaves_the_first_weights(rng):
    """They are as widely drawn as the number of inputs and the sizes of features want."""
    train, scale = learnable(rng, 5), FeatureScale(np.arange(1.0, 7.0), rng.random(6) + 0.5)
    for given in (scale, feature_scale(train, False)):
        net = NetState.draw(500, True, given, np.random.default_rng(0))
        widest = np.abs(net.weights).max(axis=0) * np.sqrt(6.0 / given.inverse_variance)
        assert (widest <= 1.0).all() and (widest > 0.98).all()
        np.testing.assert_allclose(net.bias, -net.weights @ given.center, atol=1e-12)
        assert 0.98 < np.abs(net.output).max() * np.sqrt(500.0) <= 1.0
    descent = NetDescent(2, 500, 1e308, 20)
    learned = descent.descend(ranknet_steps, train, None, np.random.default_rng(0))
    assert (learned.model.weights == net.model().weights).all() and learned.best == 0


@pytest.mark.parametrize("standardise", [False, True])
def test_features_are_taken_by_size_or_variance_and_constant_ones_get_no_weight(standardise, rng):
    train = learnable(rng, 10)
    with unlocked(train):
        train.features[:, 3] = 7.0
    x, scale = train.features.astype(float), feature_scale(train, standardise)
    size = x.var(axis=0) if standardise else np.abs(x).max(axis=0) ** 2
    np.testing.assert_allclose(scale.center, x.mean(axis=0) * standardise, atol=1e-12)
    np.testing.assert_allclose(scale.inverse_variance, (np.arange(6) != 3) / (size + 1e-99))
    descent = NetDescent(2, 4, 0.1, epochs=3, standardise=standardise)
    weights = descent.descend(lambda_steps(Lambda(), train), train, None, rng).model.weights
    assert ((weights == 0.0).all(axis=0) == (np.arange(6) == 3)).all()


def draw(rng: np.random.Generator, layers: int, hidden: int, n_features: int) -> Layers:
    units = hidden if layers == 2 else 1
    weights = rng.normal(size=(units, n_features))
    return Layers(weights, rng.normal(size=units), rng.normal(size=units if layers == 2 else 0))


def run(
    queries: QuerySet,
    function: Lambda | None,
    net: Layers,
    sequence: list[int],
    rate: float,
    scale: FeatureScale,
) -> tuple[float, Layers]:
    """One epoch on a copy of the net, of RankNet without a function; the cost and the new net."""
    weights, bias, output = (part.copy() for part in net)
    steps = lambda_steps(function, queries) if function else ranknet_steps
    data = TrainingQueries.of(queries)
    state = NetState(weights, bias, output, weights.astype(np.float32))
    order = np.array(sequence, np.int64)
    cost = steps(data, order, state, scale, rate, Passes.of(data, state))
    return cost, Layers(weights, bias, output)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("function", [Lambda(), Lambda(truncation=5), None])
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
        labels = queries.labels[rows]
        if function is None:
            before, expected = ranknet_step(expected, x[rows], labels, 0.1)
            costs += before
        else:
            scores, rules = net_scores(x[rows], expected), CONVENTIONS["standard"]
            ends = np.array([0, len(labels)])
            costs += 1.0 - query_metrics(labels, scores, ends, [nDCG @ 10], rules).item()
            expected = lambdarank_step(expected, x[rows], labels, 0.1, function)
    weights = expected.weights * np.sqrt(inverse_variance)
    wanted = (weights, expected.bias - weights @ center, expected.output)
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=3e-5)
    assert cost == pytest.approx(costs, rel=1e-5)
