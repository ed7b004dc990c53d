"""RankBoost's factorised sums against the loop over pairs."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.kernels import exponential_pairs


@pytest.mark.parametrize("spread", [0.0, 1.0, 50.0])
@pytest.mark.parametrize("span", [0.0, 2000.0])
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_against_the_loop_over_pairs(
    rng: np.random.Generator, spread: float, span: float, levels: int
) -> None:
    """`span` puts the labels far apart, in the right order: no float64 holds the ratio."""
    queries = random_queries(rng, [1, 2, 40, 0, 7, 33, 3], levels=levels)
    queries.labels[3:10] = 0
    scores = spread * rng.normal(size=queries.n_docs) + span * queries.labels
    scale = rng.random(queries.n_queries)
    potential, objective = np.zeros(queries.n_docs), np.zeros(queries.n_queries)
    for q, (begin, end) in enumerate(zip(queries.offsets, queries.offsets[1:])):
        for i in range(begin, end):
            for j in range(begin, end):
                if queries.labels[i] > queries.labels[j]:
                    loss = scale[q] * np.exp(scores[j] - scores[i])
                    objective[q] += loss
                    potential[i] += loss
                    potential[j] -= loss
    blocks = queries.by_label
    got_potential, got_objective = np.empty(queries.n_docs), np.empty(queries.n_queries)
    for first, last in ((0, 3), (3, queries.n_queries)):  # as two threads would
        exponential_pairs.potentials(
            scores, blocks.order, blocks.starts, blocks.queries, scale,
            first, last, got_potential, got_objective,
        )  # fmt: skip
    size = max(1.0, np.abs(potential).max())
    np.testing.assert_allclose(got_objective, objective, rtol=1e-10)
    np.testing.assert_allclose(got_potential, potential, rtol=1e-9, atol=1e-12 * size)
