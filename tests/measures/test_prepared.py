"""The quick measure of one set against `query_metrics`, ties and odd queries included."""

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


@pytest.mark.parametrize("name", ["letor3", "letor4", "mslr", "standard"])
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


@pytest.mark.parametrize("name", ["letor3", "letor4", "mslr", "standard"])
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
