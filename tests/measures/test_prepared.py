"""The quick measure of one set against `query_metrics`, ties and odd queries included."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import PreparedMetric, parse, query_metrics

STANDARD = CONVENTIONS["standard"]
MEASURES = ["map", "ndcg", "ndcg@10", "ndcg@2", "ndcg@1"]
OFFSETS = np.array([0, 1, 41, 41, 43, 150, 900])


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
@pytest.mark.parametrize("measure", MEASURES)
def test_is_the_measure(name, measure, rng) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0, 400] * 5, levels=4)
    with unlocked(queries):
        queries.labels[31:33] = 0
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse(measure), CONVENTIONS[name])
    for grid in (0.0, 1.0, 100.0):
        scores = np.round(grid * rng.normal(size=queries.n_docs))
        arguments = queries.labels, scores, queries.offsets, [parse(measure)], CONVENTIONS[name]
        expected = query_metrics(*arguments)[:, 0]
        np.testing.assert_allclose(metric(scores), expected, rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
@pytest.mark.parametrize("measure", ["map", "ndcg@3", "ndcg@1", "ndcg"])
def test_the_mean_of_orders_is_that_of_all_of_them(name, measure, rng) -> None:
    form, rules = parse(measure), CONVENTIONS[name]
    for lengths, levels in ([6], 2), ([5], 4), ([1, 0, 6, 2], 3), ([6], 1):
        queries = random_queries(rng, lengths, levels=levels)
        metric = PreparedMetric.of(queries.labels, queries.offsets, form, rules)
        for grid in (0.0, 1.0, 2.0):
            scores = np.round(grid * rng.normal(size=queries.n_docs))
            expected = np.zeros(queries.n_queries)
            for q, (a, b) in enumerate(pairwise(queries.offsets)):
                orders = np.array(list(permutations(range(a, b))), dtype=np.int64)
                labels, values = queries.labels[orders], scores[orders]
                offsets = np.arange(len(orders) + 1) * (b - a)
                of_orders = query_metrics(labels.ravel(), values.ravel(), offsets, [form], rules)
                expected[q] = of_orders.mean()
            np.testing.assert_allclose(metric.mean_of_orders(scores), expected, atol=1e-14)


def rank_by_rank(metric: PreparedMetric, scores: np.ndarray) -> np.ndarray:
    """The mean over all orders of equal scores, term by term."""
    expected = np.zeros(metric.n_queries)
    for h, (q, weight) in enumerate(zip(metric.query, metric.weights, strict=True)):
        all_scores = scores[metric.offsets[q] : metric.offsets[q + 1]]
        relevant, score = scores[metric.hits[metric.query == q]], scores[metric.hits[h]]
        a, n = np.sum(all_scores > score), np.sum(all_scores == score)
        A, r = np.sum(relevant > score), np.sum(relevant == score)
        k = np.arange(1, n + 1)
        terms = (A + 1 + (k - 1) * (r - 1) / max(n - 1, 1)) / (a + k)
        if metric.discounts is not None:
            terms = metric.discounts[a + k]
        expected[q] += weight * terms.mean()
    return expected


def score_sets(rng: np.random.Generator) -> list[np.ndarray]:
    """Few and many ties, what single precision does not tell apart, and what it does not hold."""
    n = OFFSETS[-1]
    grids = [rng.integers(0, levels, n).astype(np.float64) for levels in (1, 4, 30, 10**6)]
    near = [1.0 + spread * rng.integers(-30, 30, n) for spread in (1e-15, 1e-9, 1e-7)]
    extreme = [-np.inf, -1e300, -1e200, -1e-300, 0.0, -0.0, 1e-300, 1e200, 1e300, np.inf]
    return [*grids, *near, rng.choice(extreme, n), rng.choice(extreme[:3], n)]


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_the_mean_of_orders_rank_by_rank(measure, share, rng) -> None:
    labels = rng.integers(1, 3, OFFSETS[-1]) * (rng.random(OFFSETS[-1]) < share)
    metric = PreparedMetric.of(labels.astype(np.int32), OFFSETS, parse(measure), STANDARD)
    for scores in score_sets(rng):
        expected = rank_by_rank(metric, scores)
        np.testing.assert_allclose(metric.mean_of_orders(scores), expected, rtol=1e-10)


@pytest.mark.parametrize("measure", MEASURES)
def test_a_step_along_a_column_is_the_same_to_the_bit(measure, rng, monkeypatch) -> None:
    monkeypatch.setattr("letorbench.measures.prepared.LEAST", 100)  # so that threads share it
    labels = rng.integers(0, 3, OFFSETS[-1]).astype(np.int32)
    metric = PreparedMetric.of(labels, OFFSETS, parse(measure), STANDARD)
    for step in (-1.0, 0.1, np.pi):
        scores = np.round(rng.normal(size=OFFSETS[-1]), 1)
        column = np.round(rng.normal(size=OFFSETS[-1]), 1).astype(np.float32)
        moved = metric.mean_of_orders(scores + step * column.astype(np.float64))
        for threads in ("1", "3"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            np.testing.assert_array_equal(metric.mean_of_orders(scores, step, column), moved)


def test_scores_that_cannot_rank_are_refused(rng) -> None:
    queries = random_queries(rng, [3, 4])
    metric = PreparedMetric.of(queries.labels, queries.offsets, parse("map"), STANDARD)
    for method in (metric, metric.mean_of_orders):
        for row in range(7):
            with pytest.raises(DataError, match="NaN"):
                method(np.where(np.arange(7) == row, np.nan, 0.0))
        with pytest.raises(DataError, match="found 6 scores, expected 7"):
            method(np.zeros(6))


def test_other_measures_have_no_quick_way(rng) -> None:
    queries = random_queries(rng, [3, 4])
    assert PreparedMetric.of(queries.labels, queries.offsets, parse("err@10"), STANDARD) is None
