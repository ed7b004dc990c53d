"""Means over all orders of equal scores against their terms, rank by rank."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.errors import DataError
from letorbench.measures import PreparedMetric, parse
from letorbench.measures.all_orders import high_hits
from letorbench.measures.counting import COUNTED

#: queries of few hits, which are counted, and of many, which are sorted
SHORT, LONG = np.array([0, 1, 41, 41, 43, 150]), np.array([0, 90, 4 * COUNTED, 5 * COUNTED])
STANDARD = CONVENTIONS["standard"]
MEASURES = ["map", "ndcg", "ndcg@10", "ndcg@2", "ndcg@1"]


def prepared(
    rng: np.random.Generator, offsets: np.ndarray, measure: str, relevant: float = 0.3
) -> PreparedMetric:
    """A measure of queries in which a share of the documents is relevant."""
    labels = rng.integers(1, 3, offsets[-1]) * (rng.random(offsets[-1]) < relevant)
    return PreparedMetric.of(labels.astype(np.int32), offsets, parse(measure), STANDARD)


def rank_by_rank(metric: PreparedMetric, scores: np.ndarray) -> np.ndarray:
    """The mean over all orders of equal scores, term by term."""
    offsets, hits = metric.offsets, metric.hits
    expected = np.zeros(metric.n_queries)
    for h, (q, weight) in enumerate(zip(metric.query, metric.weights, strict=True)):
        all_scores = scores[offsets[q] : offsets[q + 1]]
        relevant, score = scores[hits[metric.query == q]], scores[hits[h]]
        a, n = np.sum(all_scores > score), np.sum(all_scores == score)
        A, r = np.sum(relevant > score), np.sum(relevant == score)
        k = np.arange(1, n + 1)
        terms = (A + 1 + (k - 1) * (r - 1) / max(n - 1, 1)) / (a + k)
        if metric.discounts is not None:
            terms = metric.discounts[a + k]
        expected[q] += weight * terms.mean()
    return expected


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("offsets", [SHORT, LONG])
@pytest.mark.parametrize("levels", [1, 4, 30, 10**6])
def test_rank_by_rank(
    rng: np.random.Generator, levels: int, offsets: np.ndarray, measure: str
) -> None:
    metric = prepared(rng, offsets, measure)
    scores = rng.integers(0, levels, offsets[-1]).astype(np.float64)
    np.testing.assert_allclose(
        metric.mean_of_orders(scores), rank_by_rank(metric, scores), rtol=1e-10
    )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("relevant", [0.3, 0.9])
@pytest.mark.parametrize("spread", [1e-15, 1e-9, 1e-7])
def test_scores_that_single_precision_does_not_tell_apart(
    rng: np.random.Generator, spread: float, relevant: float, measure: str
) -> None:
    metric = prepared(rng, SHORT, measure, relevant)
    scores = 1.0 + spread * rng.integers(-30, 30, SHORT[-1])
    assert len(np.unique(scores.astype(np.float32))) < len(np.unique(scores))
    np.testing.assert_allclose(
        metric.mean_of_orders(scores), rank_by_rank(metric, scores), rtol=1e-12
    )


@pytest.mark.parametrize("measure", MEASURES)
def test_scores_that_single_precision_does_not_hold(rng: np.random.Generator, measure: str) -> None:
    metric = prepared(rng, SHORT, measure)
    extreme = np.array([-np.inf, -1e300, -1e200, -1e-300, 0.0, -0.0, 1e-300, 1e200, 1e300, np.inf])
    for values in extreme, extreme[:3], extreme[[0, -1]]:
        scores = rng.choice(values, SHORT[-1])
        np.testing.assert_allclose(
            metric.mean_of_orders(scores), rank_by_rank(metric, scores), rtol=1e-12
        )


@pytest.mark.parametrize("measure", MEASURES)
@pytest.mark.parametrize("offsets", [SHORT, LONG])
def test_a_step_along_a_column_is_the_same_to_the_bit(
    rng: np.random.Generator, offsets: np.ndarray, measure: str
) -> None:
    metric = prepared(rng, offsets, measure)
    for step in (-1.0, 0.1, np.pi):
        scores = np.round(rng.normal(size=offsets[-1]), 1)
        column = np.round(rng.normal(size=offsets[-1]), 1).astype(np.float32)
        moved = metric.mean_of_orders(scores + step * column.astype(np.float64))
        np.testing.assert_array_equal(metric.mean_of_orders(scores, step, column), moved)


def test_hits_that_are_left_out_are_below_the_deepest_rank(rng: np.random.Generator) -> None:
    hits = np.empty(80, dtype=np.int32)
    for deepest in (1, 2, 10, 60, 75, 90):
        for n_hits in (0, 1, 9, 11, 60):
            scores = np.round(10.0 * rng.normal(size=75))
            chosen = hits[: high_hits(scores, n_hits, deepest, hits)]
            above = (scores > scores[:n_hits, None]).sum(axis=1)
            left_out = np.setdiff1d(np.arange(n_hits), chosen)
            assert (above[left_out] >= deepest).all()
            assert (np.diff(chosen) > 0).all()
            if deepest == 1 and n_hits:
                np.testing.assert_array_equal(
                    chosen, np.flatnonzero(scores[:n_hits] == scores[:n_hits].max())
                )


@pytest.mark.parametrize("measure", ["map", "ndcg@2"])
@pytest.mark.parametrize("row", [0, 41, 149])
def test_undefined_scores_are_refused(rng: np.random.Generator, row: int, measure: str) -> None:
    metric = prepared(rng, SHORT, measure, relevant=0.1)
    column = np.zeros(SHORT[-1], dtype=np.float32)
    column[row] = np.nan
    with pytest.raises(DataError, match="NaN"):
        metric.mean_of_orders(np.zeros(SHORT[-1]), 1.0, column)
    with pytest.raises(DataError, match="found 149 scores, expected 150"):
        metric.mean_of_orders(np.zeros(SHORT[-1]), 1.0, column[1:])
