"""Nets: the kernels against NumPy, and finite differences."""

import numpy as np
import pytest

from letorbench.models.mlp import (
    MLP,
    Layers,
    _tanh,
    backward,
    forward,
    net_gradient,
    net_scores,
)


def drawn(rng: np.random.Generator, units: int = 10, n_features: int = 46, layers: int = 2):
    """A net in float64."""
    return Layers(
        rng.normal(size=(units, n_features)),
        rng.normal(size=units),
        rng.normal(size=units if layers == 2 else 0),
    )


def in_float32(net: Layers) -> Layers:
    return net._replace(weights=net.weights.astype(np.float32))


def test_tanh_is_numpys():
    x = np.concatenate([np.linspace(-30, 30, 10_001), [-np.inf, 1e30, 0.0, 1e-9, np.nan]])
    y = x.astype(np.float32) - np.float32(0.5)
    expected = np.tanh(y + np.float32(0.5))
    _tanh(0.5, y)
    np.testing.assert_allclose(y, expected, rtol=8 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("layers, units", [(1, 1), (2, 1), (2, 7)])
def test_forward_and_backward_are_numpys(layers, units, rng):
    features = rng.random((19, 37), dtype=np.float32)
    net = drawn(rng, units, 37, layers)
    hidden, scores = np.empty((units, 30), np.float32), np.empty(19)
    forward(features, in_float32(net), hidden, scores)
    np.testing.assert_allclose(scores, net_scores(features, net), atol=2e-4)
    slope = rng.normal(size=19)
    change = Layers(np.zeros((units, 37), np.float32), np.zeros(units), np.zeros(len(net.output)))
    backward(features, in_float32(net), hidden, slope, change)
    for ours, theirs in zip(change, net_gradient(features, net, slope), strict=True):
        np.testing.assert_allclose(ours, theirs, atol=1e-3)


@pytest.mark.parametrize("layers", [1, 2])
def test_the_gradient_is_the_finite_difference(layers, rng):
    features, slope = rng.normal(size=(6, 4)), rng.normal(size=6)
    net = drawn(rng, 3 if layers == 2 else 1, 4, layers)
    gradient = net_gradient(features, net, slope)
    for part, theta in enumerate(net):
        for index in np.ndindex(theta.shape):
            sides = []
            for width in (1e-6, -1e-6):
                moved = [array.copy() for array in net]
                moved[part][index] += width
                sides.append(slope @ net_scores(features, Layers(*moved)))
            assert gradient[part][index] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("n_docs", [0, 1, 1001, 9_001])
def test_the_score_is_the_formula_of_the_document_alone(monkeypatch, rng, n_docs):
    net, features = MLP(*in_float32(drawn(rng))), rng.random((n_docs, 46), np.float32)
    whole = net.predict(features)
    expected = net_scores(features, Layers(net.weights, net.bias, net.output))
    np.testing.assert_allclose(whole, expected, atol=1e-4)
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    assert np.array_equal(net.predict(np.ascontiguousarray(features[::-1]))[::-1], whole)
