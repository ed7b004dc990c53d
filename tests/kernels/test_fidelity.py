"""FRank's sums against loops over pairs, and over every cut."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import fidelity


def pair_weights(queries: QuerySet, scores: np.ndarray, scale: np.ndarray):
    """Rows i, j of all pairs with their weights W and losses, scaled."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    labels = queries.labels
    i, j = np.nonzero((query[:, None] == query) & (labels[:, None] > labels))
    o = scores[i] - scores[j]
    right, wrong = np.exp(-np.logaddexp(0.0, -o)), np.exp(-np.logaddexp(0.0, o))
    return i, j, scale[query[i]] * np.sqrt(right) * wrong, scale[query[i]] * (1 - np.sqrt(right))


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0, 400.0])
@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
def test_against_the_loop_over_pairs(
    rng: np.random.Generator, spread: float, dtype: type
) -> None:
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3, 60], levels=4)
    queries.labels[3:10] = 0
    queries.labels[50:80] = 1
    scores = spread * rng.normal(size=queries.n_docs)
    scale = rng.random(queries.n_queries)
    i, j, W, loss = pair_weights(queries, scores, scale)
    expected = np.bincount(i, W, queries.n_docs) - np.bincount(j, W, queries.n_docs)

    blocks, n = queries.by_label, queries.n_queries
    weight, objective = np.empty(queries.n_docs), np.empty(n)
    for first, last in ((0, 3), (3, n)):  # as two threads would
        fidelity.weights(
            scores, blocks.order, blocks.starts, blocks.queries, scale,
            first, last, weight, objective,
        )  # fmt: skip
    np.testing.assert_allclose(weight, expected, rtol=1e-10, atol=1e-13)
    assert objective.sum() == pytest.approx(loss.sum(), rel=1e-10)

    n_bins = np.array([1, 2, 5, 200, 90], dtype=np.int64)
    codes = np.stack([rng.integers(0, bins, queries.n_docs) for bins in n_bins]).astype(dtype)
    best = np.zeros((5, 4))
    for first, last in ((0, 3), (3, 5)):
        fidelity.best_cuts(
            codes, n_bins, weight, scores, blocks.order, blocks.starts, blocks.queries,
            scale, first, last, best,
        )  # fmt: skip
    assert best[0, 0] == 0.0
    for k in range(1, 5):
        sums = []
        for cut in range(n_bins[k] - 1):
            h = (codes[k] > cut).astype(int)
            sums.append([W[h[i] - h[j] == 1].sum(), W[h[i] - h[j] == -1].sum()])
        gains = np.diff(np.sqrt(sums), axis=1)[:, 0] ** 2
        assert best[k, 0] == pytest.approx(gains.max(), rel=1e-6, abs=1e-12)
        right, wrong = sums[int(best[k, 1])]
        np.testing.assert_allclose(best[k, 2:], [right - wrong, right + wrong], atol=1e-12)
