"""Ranks of the relevant documents against a stable sort, and mean terms of ties rank by rank."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.conventions import CONVENTIONS
from letorbench.measures import PreparedMetric, parse
from letorbench.measures.prepared import COUNTED, relevant_ranks

#: queries of few hits, which are counted, and of many, which are sorted
SHORT, LONG = np.array([0, 1, 41, 41, 43, 150]), np.array([0, 90, 4 * COUNTED, 5 * COUNTED])


@pytest.mark.parametrize("offsets", [SHORT, LONG])
@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_against_a_stable_sort(rng: np.random.Generator, levels: int, offsets: np.ndarray) -> None:
    scores, hits = drawn(rng, levels, offsets)
    ranks = np.empty(len(hits), dtype=np.int64)
    relevant_ranks(scores, offsets, hits, np.searchsorted(hits, offsets), ranks)
    expected = np.empty(len(scores), dtype=np.int64)
    for begin, end in zip(offsets, offsets[1:]):
        order = np.argsort(-scores[begin:end], kind="stable")
        expected[begin + order] = np.arange(1, end - begin + 1)
    np.testing.assert_array_equal(ranks, expected[hits])


@pytest.mark.parametrize("measure", ["map", "ndcg", "ndcg@2"])
@pytest.mark.parametrize("offsets", [SHORT, LONG])
@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_the_mean_of_orders_rank_by_rank(
    rng: np.random.Generator, levels: int, offsets: np.ndarray, measure: str
) -> None:
    scores, hits = drawn(rng, levels, offsets)
    labels = np.zeros(len(scores), dtype=np.int32)
    labels[hits] = rng.integers(1, 3, len(hits))
    metric = PreparedMetric.of(labels, offsets, parse(measure), CONVENTIONS["standard"])
    expected = np.zeros(len(offsets) - 1)
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
    np.testing.assert_allclose(metric.mean_of_orders(scores), expected, rtol=1e-10)


def drawn(
    rng: np.random.Generator, levels: int, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of few or many levels, and a third of the documents, sorted."""
    scores = rng.integers(0, levels, offsets[-1]).astype(np.float64)
    return scores, np.flatnonzero(rng.random(len(scores)) < 0.3)
