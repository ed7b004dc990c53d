"""The functionals paper's probabilities against enumeration: all orders, all labellings."""

from __future__ import annotations

from itertools import permutations, product

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import LOSSES, loss
from letorbench.losses.label_order import DOCUMENT_WEIGHTS, PAIR_WEIGHTS
from letorbench.measures import parse, query_metrics


def one_query(labels: list[int]) -> QuerySet:
    m = len(labels)
    features = np.zeros((m, 1), np.float32)
    return QuerySet(features, np.array(labels, np.int32), np.array([0, m]), np.array([1]))


@pytest.mark.parametrize("name", ["wpl-1", "rpl-1"])
@pytest.mark.parametrize("m", [1, 2, 4, 5])
def test_probabilities_of_all_orders_sum_to_one(name, m, rng):
    scores = 2.0 * rng.normal(size=m)
    orders = [one_query(list(labels)) for labels in permutations(range(m))]
    total = sum(np.exp(-loss(name)(scores, queries)[0][0]) for queries in orders)
    assert total == pytest.approx(1.0, rel=1e-12)


def enumerated(scores: np.ndarray, levels: int) -> dict[tuple[int, ...], float]:
    """P(r) of every labelling, equation 14."""
    m = len(scores)
    gamma = 2.0 / (m * (m - 1))
    weight = {
        labels: np.exp(
            gamma
            * sum(
                np.sign(labels[i] - labels[j]) * (scores[i] - scores[j])
                for i in range(m)
                for j in range(i + 1, m)
            )
        )
        for labels in product(range(levels), repeat=m)
    }
    z = sum(weight.values())
    return {labels: w / z for labels, w in weight.items()}


@pytest.mark.parametrize("m", [2, 3, 4])
def test_pseudo_likelihood_is_of_the_enumerated_field(m, rng):
    levels, scores = 3, 3.0 * rng.normal(size=m)
    p = enumerated(scores, levels)
    for labels in product(range(levels), repeat=m):
        if max(labels) < levels - 1:
            continue  # the set's largest label says how many there are
        expected = 0.0
        for i in range(m):
            others = [p[(*labels[:i], r, *labels[i + 1 :])] for r in range(levels)]
            expected -= np.log(p[labels] / sum(others))
        found = loss("wpll-1")(scores, one_query(list(labels)))[0][0]
        assert found == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("m", [2, 3, 4])
@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0])
def test_the_pairwise_bound_is_above_the_enumerated_loss(m, spread, rng):
    """-log P(r) <= -sum of log Q + (m - 2) log L (the appendix), equal for m = 2."""
    levels, scores = 3, spread * rng.normal(size=m)
    for labels, p in enumerated(scores, levels).items():
        if max(labels) == levels - 1:
            bound = loss("wub-1")(scores, one_query(list(labels)))[0][0]
            bound += (m - 2) * np.log(levels)
            assert -np.log(p) <= bound + 1e-12
            if m == 2:
                assert -np.log(p) == pytest.approx(bound, rel=1e-12)


@pytest.mark.parametrize("name", ["ndcg", "err"])
def test_smoothed_measures_tend_to_the_measures(name, rng):
    queries = random_queries(rng, [1, 5, 9, 4], levels=4)
    with unlocked(queries):
        queries.labels[:1] = 3
    scores = 1e4 * rng.permutation(queries.n_docs).astype(np.float64)
    hard = query_metrics(
        queries.labels, scores, queries.offsets, [parse(name)], CONVENTIONS["standard"]
    )
    smooth = loss(f"smooth-{name}")(scores, queries)[0]
    np.testing.assert_allclose(smooth, 1.0 - hard[:, 0], atol=1e-12)


def test_smoothed_reciprocal_place_of_the_best(rng):
    scores = 1e4 * np.array([3.0, 1.0, 2.0, 0.0])
    value, _ = loss("smooth-mrr")(scores, one_query([0, 2, 1, 2]))
    assert value[0] == pytest.approx(1.0 - (1.0 / 3.0 + 1.0 / 4.0) / 2.0)


def test_every_weight_has_its_losses():
    for weight in DOCUMENT_WEIGHTS:
        assert {f"wpl-{weight}", f"rpl-{weight}", f"wpll-{weight}"} <= set(LOSSES)
    for weight in PAIR_WEIGHTS:
        assert {f"wub-{weight}", f"pairwise-hinge-{weight}"} <= set(LOSSES)


def test_threads_change_nothing(monkeypatch, rng):
    queries = random_queries(rng, [30] * 300, levels=4)
    scores = rng.normal(size=queries.n_docs)
    for name in ("wpl-1/pi", "rpl-r", "wpll-1", "wub-1/m", "pairwise-logistic-1", "smooth-err"):
        found = []
        for threads in ("1", "3"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            found.append(loss(name)(scores, queries))
        assert all(np.array_equal(a, b) for a, b in zip(*found))


def test_empty_queries_are_survived(rng):
    """With the value of a query in which nothing is relevant, which no score changes."""
    queries = random_queries(rng, [0, 4, 0, 3, 0], levels=3)
    for name in sorted(LOSSES):
        value, gradient = loss(name)(rng.normal(size=7), queries)
        np.testing.assert_array_equal(value[[0, 2, 4]], 1.0 if "cosine" in name else 0.0)
        assert np.isfinite(gradient).all()
