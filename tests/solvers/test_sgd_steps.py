"""Compiled epochs against the rankers' NumPy steps; V1 = V2; finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.losses import loss
from letorbench.losses.lambdas import Lambda
from letorbench.models.mlp import Layers, net_scores
from letorbench.rankers.lambdarank import lambdarank_step
from letorbench.rankers.ranknet import ranknet_step
from letorbench.solvers.sgd import PASSES, FeatureScale, NetState, TrainingQueries, epoch

BY_QUERY = [way for way in PASSES if way != "online"]


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
    passes: str = "factored",
    scale: FeatureScale | None = None,
    dtype: type = np.float64,
) -> tuple[float, Layers]:
    """One epoch on a copy of the net, computed in `dtype`; the cost and the new net."""
    weights, bias, output = (part.copy() for part in net)
    n = queries.n_features
    cost = epoch(
        TrainingQueries.of(queries, function, passes),
        np.array(sequence, np.int64),
        NetState(weights, bias, output, weights.astype(dtype)),
        scale or FeatureScale(np.zeros(n), np.ones(n)),
        rate,
    )
    return cost, Layers(weights, bias, output)


@pytest.mark.parametrize("layers", [1, 2])
def test_every_way_of_the_passes_is_one_gradient(layers, rng):
    """V1, V2 and ours, a step a query: the same cost, and the same gradient to 1e-10."""
    queries = random_queries(rng, [1, 9, 30, 4], levels=4)
    net = draw(rng, layers, 5, queries.n_features)
    for q in range(queries.n_queries):
        one, *others = (run(queries, Lambda("ranknet"), net, [q], 1.0, way) for way in BY_QUERY)
        for other in others:
            assert one[0] == pytest.approx(other[0], rel=1e-10)
            for a, b in zip(one[1], other[1], strict=True):
                np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize("layers", [1, 2])
def test_online_steps_after_every_pair(layers, rng):
    """The same as one query for each pair, in the order of the pairs."""
    queries = random_queries(rng, [9], n_features=4, levels=3)
    net = draw(rng, layers, 3, 4)
    cost, moved = run(queries, Lambda("ranknet"), net, [0], 0.01, "online")
    expected, total = net, 0.0
    labels, x = queries.labels, queries.features.astype(np.float64)
    order = queries.by_label.order
    for i in order:
        for j in order:
            if labels[i] > labels[j]:
                before, expected = ranknet_step(expected, x[[i, j]], labels[[i, j]], 0.01)
                total += before
    assert cost == pytest.approx(total)
    for a, b in zip(moved, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_descends_ranknets_cost(layers, rng):
    """The step at rate 1 is minus the cost's finite difference in every weight."""
    queries = random_queries(rng, [12], levels=3)
    net = draw(rng, layers, 3, queries.n_features)
    cost, moved = run(queries, Lambda("ranknet"), net, [0], 1.0)

    def cost_of(parts) -> float:
        return loss("ranknet")(net_scores(queries.features, Layers(*parts)), queries)[0].sum()

    assert cost == pytest.approx(cost_of(net))
    for part in range(3):
        for index in np.ndindex(net[part].shape):
            sides = []
            for width in (1e-5, -1e-5):
                shifted = [p.copy() for p in net]
                shifted[part][index] += width
                sides.append(cost_of(shifted))
            slope = (sides[0] - sides[1]) / 2e-5
            assert moved[part][index] - net[part][index] == pytest.approx(-slope, abs=1e-6)


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("function", [Lambda(), Lambda(truncation=5), Lambda("ranknet")])
@pytest.mark.parametrize("dtype, digits", [(np.float64, 1e-11), (np.float32, 1e-5)])
def test_an_epoch_is_the_rankers_step_on_each_query(layers, function, dtype, digits, rng):
    queries = random_queries(rng, [15, 3, 8, 20], n_features=11, levels=3)
    net = draw(rng, layers, 4, 11)
    center, inverse_variance = rng.normal(size=11), rng.random(11) + 0.5
    scale = FeatureScale(center, inverse_variance)
    cost, ours = run(queries, function, net, [2, 0, 3], 0.01, scale=scale, dtype=dtype)
    # the reference scales the features themselves, and its weights to match
    x = ((queries.features - center) * np.sqrt(inverse_variance)).astype(np.float64)
    expected = Layers(
        net.weights / np.sqrt(inverse_variance), net.bias + net.weights @ center, net.output
    )
    costs = 0.0
    for q in [2, 0, 3]:
        rows = slice(queries.offsets[q], queries.offsets[q + 1])
        if function.is_ranknet:
            before, expected = ranknet_step(expected, x[rows], queries.labels[rows], 0.01)
            costs += before
        else:
            expected = lambdarank_step(expected, x[rows], queries.labels[rows], 0.01, function)
    weights = expected.weights * np.sqrt(inverse_variance)
    wanted = (weights, expected.bias - weights @ center, expected.output)
    for a, b in zip(ours, wanted, strict=True):
        np.testing.assert_allclose(a, b, atol=digits)
    if function.is_ranknet:
        assert cost == pytest.approx(costs, rel=1e3 * digits)
    else:
        assert 0.0 <= cost <= 3.0
