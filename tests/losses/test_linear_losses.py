"""A loss of linear scores in one look at the features is the loss of these scores."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.errors import UsageError
from letorbench.losses import LOSSES, loss
from letorbench.losses.top_k_cross_entropy import BLOCK

LINEAR = [name for name in LOSSES if loss(name).of_linear is not None]


@pytest.mark.parametrize("name", LINEAR)
@pytest.mark.parametrize("size", [0.0, 1.0, 300.0])
def test_a_loss_of_linear_scores(rng, monkeypatch, name, size):
    lengths = rng.integers(1, 12, 3 * BLOCK + 5)
    queries = random_queries(rng, [*lengths, 0, 1, 30], n_features=7, levels=20)
    w, b = size * rng.normal(size=7), 0.3
    value, by_scores = loss(name)(queries.features @ w + b, queries)
    monkeypatch.setattr("letorbench.losses.top_k_cross_entropy.DOCS_A_THREAD", 1)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        found.append(loss(name).of_linear(w, b, queries))
    np.testing.assert_allclose(found[0].value, value, rtol=1e-11, atol=1e-11)
    by_weights = by_scores @ queries.features.astype(float)
    np.testing.assert_allclose(found[0].by_weights, by_weights, rtol=1e-9, atol=1e-10)
    assert found[0].by_bias == pytest.approx(by_scores.sum(), abs=1e-10)
    for other in found[1:]:
        assert np.array_equal(other.value, found[0].value)
        assert np.array_equal(other.by_weights, found[0].by_weights)


def test_listnet_has_such_a_loss_and_refuses_the_same_queries(rng):
    assert LINEAR == ["listnet", "listnet-2", "listnet-3"]
    queries = random_queries(rng, [3, 1000], n_features=2)
    with pytest.raises(UsageError, match="found a query of 1000 documents, whose first 3 places"):
        loss("listnet-3").of_linear(np.ones(2), 0.0, queries)
