"""Nets forward and backward, per-query epochs: NumPy twins, V1 = V2, finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import nets
from letorbench.kernels.per_query import epoch
from letorbench.losses import loss
from letorbench.losses.lambdas import (
    Lambda,
    block_gains,
    inverse_ideal,
    truncated_discount,
)


def draw(rng: np.random.Generator, layers: int, hidden: int, n_features: int):
    units = hidden if layers == 2 else 1
    weights = rng.normal(size=(units, n_features))
    return weights, rng.normal(size=units), rng.normal(size=units if layers == 2 else 0)


def scores_of(features: np.ndarray, weights, bias, output) -> np.ndarray:
    hidden = features.astype(np.float64) @ weights.T + bias
    return np.tanh(hidden) @ output if len(output) else hidden[:, 0]


def pull_back(features: np.ndarray, weights, bias, output, force):
    """Forces on the scores -> forces on weights, bias, output."""
    x = features.astype(np.float64)
    if len(output) == 0:
        return (force @ x)[None], np.array([force.sum()]), np.zeros(0)
    t = np.tanh(x @ weights.T + bias)
    pull = force[:, None] * output * (1.0 - t**2)
    return pull.T @ x, pull.sum(axis=0), force @ t


def run(
    queries: QuerySet,
    function: Lambda,
    net,
    sequence: list[int],
    rate: float,
    pairwise: bool = False,
    center: np.ndarray | None = None,
    stretch: np.ndarray | None = None,
    dtype: type = np.float64,
):
    """One epoch on copies of the net's weights; the cost and the new net."""
    weights, bias, output = (part.copy() for part in net)
    n_features = queries.n_features
    blocks, cost_discount = queries.by_label, truncated_discount(queries, 10)
    cost = epoch(
        queries.features, queries.offsets, blocks.order, blocks.starts, blocks.queries,
        block_gains(queries), function.scale(queries), function.discount(queries),
        inverse_ideal(queries, cost_discount), cost_discount, np.array(sequence, np.int64),
        function.kind, function.neighbours, function.margin, pairwise, rate,
        np.zeros(n_features) if center is None else center,
        np.ones(n_features) if stretch is None else stretch,
        weights, bias, output, weights.astype(dtype),
    )  # fmt: skip
    return cost, (weights, bias, output)


def test_tanh_is_numpys():
    x = np.concatenate([np.linspace(-30, 30, 10_001), [-1e300, 1e300, 0.0, 1e-9]])
    y = x.copy()
    nets.tanh(y, len(y))
    np.testing.assert_allclose(y, np.tanh(x), rtol=0, atol=5e-14)


@pytest.mark.parametrize("layers, hidden", [(1, 1), (2, 1), (2, 4), (2, 7)])
@pytest.mark.parametrize("dtype, digits", [(np.float64, 1e-12), (np.float32, 2e-5)])
def test_forward_and_backward_are_numpys(layers, hidden, dtype, digits, rng):
    features = rng.random((23, 37), dtype=np.float32)
    weights, bias, output = draw(rng, layers, hidden, 37)
    units, begin, end = len(bias), 3, 22
    values, scores = np.empty((30, units)), np.empty(30)
    nets.forward(features, begin, end, weights.astype(dtype), bias, output, values, scores)
    expected = scores_of(features[begin:end], weights, bias, output)
    np.testing.assert_allclose(scores[: end - begin], expected, atol=10 * digits)
    force = rng.normal(size=end - begin)
    change, bias_change = np.zeros((units, 37), dtype), np.zeros(units)
    output_change, pull = np.zeros(len(output)), np.empty((30, units), dtype)
    nets.backward(
        features, begin, end, output, values, force, pull, change, bias_change, output_change
    )
    twin = pull_back(features[begin:end], weights, bias, output, force)
    for ours, theirs in zip((change, bias_change, output_change), twin):
        np.testing.assert_allclose(ours, theirs, atol=50 * digits)


def test_equal_documents_score_equally_wherever_they_stand(rng):
    features = np.repeat(rng.random((1, 46), dtype=np.float32), 9, axis=0)
    weights, bias, output = draw(rng, 2, 10, 46)
    scores = np.empty(9)
    nets.forward(
        features, 0, 9, weights.astype(np.float32), bias, output, np.empty((9, 10)), scores
    )
    assert len(set(scores)) == 1


@pytest.mark.parametrize("layers", [1, 2])
def test_ranknet_factored_is_ranknet_pair_by_pair(layers, rng):
    """V1 and V2: the same cost, and the same gradient to 1e-10."""
    queries = random_queries(rng, [1, 9, 30, 4], levels=4)
    net = draw(rng, layers, 5, queries.n_features)
    for q in range(queries.n_queries):
        one, two = (run(queries, Lambda("ranknet"), net, [q], 1.0, v1) for v1 in (False, True))
        assert one[0] == pytest.approx(two[0], rel=1e-10)
        for a, b in zip(one[1], two[1]):
            np.testing.assert_allclose(a, b, rtol=0, atol=1e-10)


@pytest.mark.parametrize("layers", [1, 2])
def test_a_step_descends_ranknets_cost(layers, rng):
    """The step at rate 1 is minus the cost's finite difference in every weight."""
    queries = random_queries(rng, [12], levels=3)
    net = draw(rng, layers, 3, queries.n_features)
    cost, moved = run(queries, Lambda("ranknet"), net, [0], 1.0)

    def cost_of(parts) -> float:
        return loss("ranknet")(scores_of(queries.features, *parts), queries)[0].sum()

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
def test_an_epoch_is_a_loop_over_queries(layers, function, dtype, digits, rng):
    queries = random_queries(rng, [15, 3, 8, 20], n_features=11, levels=3)
    net = draw(rng, layers, 4, 11)
    center, stretch = rng.normal(size=11), rng.random(11) + 0.5
    cost, ours = run(
        queries, function, net, [2, 0, 3], 0.01, center=center, stretch=stretch, dtype=dtype
    )
    # the twin standardises the features themselves, and its weights to match
    x = ((queries.features - center) * np.sqrt(stretch)).astype(np.float64)
    weights, bias, output = (part.copy() for part in net)
    bias = bias + weights @ center
    weights = weights / np.sqrt(stretch)
    for q in [2, 0, 3]:
        one, rows = queries.queries(q, q + 1), slice(queries.offsets[q], queries.offsets[q + 1])
        force = function(scores_of(x[rows], weights, bias, output), one)
        changes = pull_back(x[rows], weights, bias, output, force)
        weights, bias, output = (
            part + 0.01 * change for part, change in zip((weights, bias, output), changes)
        )
    weights = weights * np.sqrt(stretch)
    bias = bias - weights @ center
    for a, b in zip(ours, (weights, bias, output)):
        np.testing.assert_allclose(a, b, atol=digits)
    assert np.isfinite(cost) and cost >= 0.0
