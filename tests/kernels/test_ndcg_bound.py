"""NDCG Boost's pair sums against the double loops of the paper's equations."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.kernels import ndcg_bound


def sigma(t: float) -> float:
    return float(0.5 * (1.0 + np.tanh(t / 2.0)))


def twin(queries: QuerySet, scores, scale, chosen):
    """w (16), M (11) and the two sums of (15), pair by pair; theta is 0 for i = j."""
    w = np.zeros(queries.n_docs)
    m, sums = np.zeros(queries.n_queries), np.zeros((queries.n_queries, 2))
    gain = 2.0**queries.labels - 1.0
    for q, (begin, end) in enumerate(zip(queries.offsets, queries.offsets[1:])):
        for i in range(begin, end):
            for j in range(begin, end):
                if i == j:
                    continue
                theta = sigma(scores[i] - scores[j]) * sigma(scores[j] - scores[i])
                w[i] += (gain[i] - gain[j]) * theta * scale[q]
                m[q] += gain[i] * sigma(scores[j] - scores[i]) * scale[q]
                sums[q, 0] += gain[i] * theta * scale[q] * (chosen[j] < chosen[i])
                sums[q, 1] += gain[i] * theta * scale[q] * (chosen[j] > chosen[i])
    return w, m, sums


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0, 400.0])
def test_against_the_double_loop(rng: np.random.Generator, spread: float) -> None:
    queries = random_queries(rng, [1, 2, 40, 7, 33, 3], levels=4)
    queries.labels[queries.offsets[3] : queries.offsets[4]] = 0
    scores = spread * rng.normal(size=queries.n_docs)
    scale = rng.random(queries.n_queries)
    scale[3] = 0.0
    chosen = rng.random(queries.n_docs) < 0.4
    blocks = queries.by_label
    gains = np.repeat(np.exp2(blocks.labels) - 1.0, np.diff(blocks.starts))
    w, m = np.empty(queries.n_docs), np.empty(queries.n_queries)
    sums = np.empty((queries.n_queries, 2))
    # in two parts, as two threads would
    for first, last in ((0, 2), (2, queries.n_queries)):
        ndcg_bound.weights(
            scores, blocks.order, blocks.starts, blocks.queries, queries.offsets,
            gains, scale, first, last, w, m,
        )  # fmt: skip
        ndcg_bound.step_sums(
            scores, chosen, blocks.order, queries.offsets, gains, scale, first, last, sums
        )
    for ours, theirs in zip((w, m, sums), twin(queries, scores, scale, chosen)):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-13)
