"""Active pairs by label blocks and by trees, against loops over every pair."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.solvers import margin


def matrix(queries: QuerySet, scores: np.ndarray) -> np.ndarray:
    """active[i, j]: r_i > r_j, one query, s_i < s_j + 1."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    labels = queries.labels
    same = query[:, None] == query
    return same & (labels[:, None] > labels) & (scores[:, None] < scores[None, :] + 1.0)


@pytest.mark.parametrize("levels", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("few", [0, 100])
@pytest.mark.parametrize("grid", [0.0, 0.5, 1e-6])
def test_matches_pair_loops(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, levels: int, few: int, grid: float
) -> None:
    """Scores all equal; on a grid of halves (ties, pairs exactly one apart); and free."""
    monkeypatch.setattr(margin, "FEW_LABELS", few)
    queries = random_queries(rng, [1, 30, 0, 2, 57, 10], levels=levels)
    with unlocked(queries):
        queries.labels[90:] = queries.labels[90]  # a query of one label
    scores = grid * np.round(2.0 * rng.normal(size=100) / max(grid, 1e-9))
    x = rng.normal(size=100)
    active = margin.active_pairs(queries)(scores)
    expected = matrix(queries, scores)
    both = (expected | expected.T).astype(float)
    assert np.array_equal(active.upper, expected.sum(axis=1))
    assert np.array_equal(active.lower, expected.sum(axis=0))
    product = both.sum(axis=1) * x - both @ x
    assert np.allclose(active.laplacian(x + 1e3), product, rtol=0, atol=1e-9)


def test_pair_counts(rng: np.random.Generator) -> None:
    queries = random_queries(rng, [1, 30, 0, 2, 57], levels=4)
    everything = matrix(queries, np.zeros(90)).sum(axis=1)
    starts = np.concatenate([[0], np.cumsum(everything)])[queries.offsets]
    assert np.array_equal(margin.pair_counts(queries), np.diff(starts))


def test_thinned_keeps_every_query_and_label(rng: np.random.Generator) -> None:
    queries = random_queries(rng, [1, 300, 0, 33, 500], levels=3)
    with unlocked(queries):
        queries.labels[1:301] = np.repeat([2, 0, 1], [30, 33, 237])
    part = margin.thinned(queries)
    for q in range(queries.n_queries):
        whole, kept = queries.queries(q, q + 1), part.queries(q, q + 1)
        for label in range(3):
            rows = np.flatnonzero(whole.labels == label)
            rows = rows if len(rows) <= 32 else rows[::16]
            assert np.array_equal(kept.features[kept.labels == label], whole.features[rows])
    assert np.array_equal(np.bincount(part.queries(1, 2).labels), [3, 15, 30])
    assert np.array_equal(part.qids, queries.qids)
