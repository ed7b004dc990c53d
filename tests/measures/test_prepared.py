"""The quick measure of one set against `evaluate`, ties and odd queries included."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import PreparedMetric, parse, query_metrics


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
@pytest.mark.parametrize("measure", ["map", "ndcg@10", "ndcg@1", "ndcg"])
@pytest.mark.parametrize("grid", [0.0, 1.0, 100.0])
def test_is_the_measure(name, measure, grid, rng, monkeypatch) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0] * 20, levels=4)
    with unlocked(queries):
        queries.labels[31:33] = 0
    measured = PreparedMetric.of(queries.labels, queries.offsets, parse(measure), CONVENTIONS[name])
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        monkeypatch.setattr("letorbench.measures.prepared.LEAST", 100)
        scores = np.round(grid * rng.normal(size=queries.n_docs))
        expected = query_metrics(
            queries.labels, scores, queries.offsets, [parse(measure)], CONVENTIONS[name]
        )
        np.testing.assert_allclose(measured(scores), expected[:, 0], rtol=1e-12, atol=0)


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
@pytest.mark.parametrize("measure", ["map", "ndcg@3", "ndcg@1", "ndcg"])
def test_the_mean_of_orders_is_that_of_all_of_them(name, measure, rng) -> None:
    asked, rules = parse(measure), CONVENTIONS[name]
    for lengths, levels in ([6], 2), ([5], 4), ([1, 0, 6, 2], 3), ([6], 1):
        queries = random_queries(rng, lengths, levels=levels)
        measured = PreparedMetric.of(queries.labels, queries.offsets, asked, rules)
        for grid in (0.0, 1.0, 2.0):
            scores = np.round(grid * rng.normal(size=queries.n_docs))
            expected = np.zeros(queries.n_queries)
            for q, (a, b) in enumerate(pairwise(queries.offsets)):
                orders = np.array(list(permutations(range(a, b))), dtype=np.int64)
                labels, values = queries.labels[orders], scores[orders]
                offsets = np.arange(len(orders) + 1) * (b - a)
                of_orders = query_metrics(labels.ravel(), values.ravel(), offsets, [asked], rules)
                expected[q] = of_orders.mean()
            np.testing.assert_allclose(measured.mean_of_orders(scores), expected, atol=1e-14)


@pytest.mark.parametrize("measure", ["map", "ndcg@10"])
def test_without_ties_the_mean_of_orders_is_the_measure(measure, rng) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57], levels=4)
    rules = CONVENTIONS["standard"]
    measured = PreparedMetric.of(queries.labels, queries.offsets, parse(measure), rules)
    scores = rng.normal(size=queries.n_docs)
    np.testing.assert_allclose(measured.mean_of_orders(scores), measured(scores), rtol=1e-13)


@pytest.mark.parametrize("measure", ["map", "ndcg@10"])
def test_nothing_relevant_measures_zero(measure, rng) -> None:
    queries = random_queries(rng, [3, 4], levels=1)
    measured = PreparedMetric.of(
        queries.labels, queries.offsets, parse(measure), CONVENTIONS["standard"]
    )
    np.testing.assert_array_equal(measured(rng.normal(size=7)), [0.0, 0.0])


def test_scores_that_are_none_are_refused(rng) -> None:
    queries = random_queries(rng, [3, 4])
    measured = PreparedMetric.of(
        queries.labels, queries.offsets, parse("map"), CONVENTIONS["standard"]
    )
    with pytest.raises(DataError, match="NaN"):
        measured(np.array([0.0, np.nan, 0.0, 0.0, 0.0, 0.0, 0.0]))
    with pytest.raises(DataError, match="found 6 scores, expected 7"):
        measured(np.zeros(6))


def test_other_measures_have_no_quick_way(rng) -> None:
    queries = random_queries(rng, [3, 4])
    assert (
        PreparedMetric.of(queries.labels, queries.offsets, parse("err@10"), CONVENTIONS["standard"])
        is None
    )
