"""The quick measure of one set against `evaluate`, ties and odd queries included."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import PreparedMetric, parse, query_metrics


@pytest.mark.parametrize("name", sorted(CONVENTIONS))
@pytest.mark.parametrize("measure", ["map", "ndcg@10", "ndcg@1", "ndcg"])
@pytest.mark.parametrize("grid", [0.0, 1.0, 100.0])
def test_is_the_measure(name, measure, grid, rng, monkeypatch) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10, 1, 0] * 20, levels=4)
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
