"""The net's scores: the formula, any number of threads and rows, and a round trip to disk."""

from __future__ import annotations

import numpy as np

from letorbench.models import Net, load, save


def drawn(rng: np.random.Generator) -> Net:
    weights = rng.normal(size=(10, 46)).astype(np.float32)
    return Net(weights, rng.normal(size=10), rng.normal(size=10))


def test_the_score_is_the_formula(rng):
    net, features = drawn(rng), rng.random((9_001, 46), dtype=np.float32)
    expected = np.tanh(features @ net.weights.T.astype(np.float64) + net.bias) @ net.output
    np.testing.assert_allclose(net.predict(features), expected, atol=1e-4)


def test_the_score_depends_on_nothing_but_the_document(monkeypatch, rng):
    net, features = drawn(rng), rng.random((9_001, 46), dtype=np.float32)
    whole = net.predict(features)
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    assert np.array_equal(net.predict(features), whole)
    assert np.array_equal(net.predict(np.ascontiguousarray(features[::-1]))[::-1], whole)
    assert len(net.predict(features[:0])) == 0


def test_a_saved_net_scores_the_same(tmp_path, rng):
    net, features = drawn(rng), rng.random((50, 46), dtype=np.float32)
    save(net, tmp_path / "net.npz")
    again, _ = load(tmp_path / "net.npz")
    assert np.array_equal(again.predict(features), net.predict(features))
