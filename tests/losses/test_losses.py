"""Every registered loss: against its definition in plain Python, and finite differences."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries
from definitions import DEFINITIONS, LEVELS

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses import LOSSES, MODULES, loss
from letorbench.losses.top_k_cross_entropy import top_k_cross_entropy


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    """Many lengths, one document too; all labels equal; nothing relevant."""
    drawn = random_queries(rng, [1, 7, 2, 4, 9, 3, 1, 6], levels=LEVELS)
    labels = drawn.labels.copy()
    labels[1] = LEVELS - 1
    labels[drawn.offsets[3] : drawn.offsets[4]] = 2
    labels[drawn.offsets[5] : drawn.offsets[6]] = 0
    return QuerySet(drawn.features, labels, drawn.offsets, drawn.qids)


def each(queries: QuerySet, scores: np.ndarray, name: str) -> list[float]:
    bounds = zip(queries.offsets[:-1], queries.offsets[1:])
    define = DEFINITIONS[name]
    return [define(scores[a:b].tolist(), queries.labels[a:b].tolist()) for a, b in bounds]


@pytest.mark.parametrize("name", sorted(LOSSES))
@pytest.mark.parametrize("spread", [0.0, 1.0, 30.0, 200.0, 2e4])
def test_the_value_is_the_definition(name, spread, queries, rng):
    scores = spread * rng.normal(size=queries.n_docs)
    value, gradient = loss(name)(scores, queries)
    assert value.shape == (queries.n_queries,) and gradient.shape == (queries.n_docs,)
    assert np.isfinite(gradient).all()
    np.testing.assert_allclose(value, each(queries, scores, name), rtol=1e-9, atol=1e-12)


def differentiable(name: str, spread: float) -> bool:
    """Whether finite differences can tell the gradient at scores of that spread, see `Loss`."""
    drowned = loss(name).exponential and spread > 1.0
    return not drowned and not (loss(name).undefined_at_zero and spread == 0.0)


@pytest.mark.parametrize(
    ("name", "spread"),
    [(n, s) for n in sorted(LOSSES) for s in (0.0, 1.0, 10.0, 300.0) if differentiable(n, s)],
)
def test_the_gradient_is_the_finite_difference(name, spread, queries, rng):
    scores = spread * rng.normal(size=queries.n_docs)
    gradient = loss(name)(scores, queries)[1]
    width = 1e-4
    for i in range(queries.n_docs):
        up, down = scores.copy(), scores.copy()
        up[i] += width
        down[i] -= width
        rise = (loss(name)(up, queries)[0] - loss(name)(down, queries)[0]).sum()
        assert gradient[i] == pytest.approx(rise / (2 * width), rel=1e-6, abs=2e-6)


@pytest.mark.parametrize("name", ["listnet-2", "listnet-3", "ranknet"])
def test_far_scores_take_the_other_path_without_a_seam(name, rng):
    """The same gradient just within and just beyond the widest span of shared exponentials."""
    queries = random_queries(rng, [8] * 5)
    scores = rng.normal(size=queries.n_docs)
    scores[::8] = 0.0
    for span in (80.0, 600.0):
        scores[7::8] = -span * (1 - 1e-12)
        near = loss(name)(scores, queries)
        scores[7::8] = -span * (1 + 1e-12)
        far = loss(name)(scores, queries)
        np.testing.assert_allclose(near[0], far[0], rtol=1e-9)
        np.testing.assert_allclose(near[1], far[1], atol=1e-9)


def test_every_loss_is_the_same_with_one_thread(monkeypatch, rng):
    queries = random_queries(rng, [40] * 300)
    scores = rng.normal(size=queries.n_docs)
    for name in ("ranknet", "listnet"):
        monkeypatch.setenv("LETORBENCH_THREADS", "1")
        one = loss(name)(scores, queries)
        monkeypatch.setenv("LETORBENCH_THREADS", "3")
        three = loss(name)(scores, queries)
        assert np.array_equal(one[0], three[0]) and np.array_equal(one[1], three[1])


def test_listnet_refuses_what_would_take_for_ever(rng):
    with pytest.raises(UsageError, match="1000 documents"):
        top_k_cross_entropy(np.zeros(1000), random_queries(rng, [1000]), 3)


def test_an_unknown_loss_names_the_known():
    with pytest.raises(UsageError, match="listnet, listnet-2"):
        loss("nothing")


def test_every_name_is_one_loss():
    every = [each.name for module in MODULES for each in module.LOSSES]
    assert len(every) == len(set(every)) == len(LOSSES)
    assert all(LOSSES[name].name == name and LOSSES[name].formula for name in LOSSES)
