"""Every lambda function: against a loop over pairs, and Newton's third law."""

from itertools import pairwise

import numpy as np
import pytest
from conftest import odd_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.losses.label_order import random_order
from letorbench.losses.lambdas import LAMBDAS, Lambda, pair_lambdas


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    return odd_queries(rng, [1, 9, 2, 5, 14, 3], 5, 5)


@pytest.mark.parametrize("name", sorted(LAMBDAS))
@pytest.mark.parametrize("margin", [0.0, 0.7])
@pytest.mark.parametrize(
    "neighbours, truncation, spread",
    [(False, 0, 1.0), (True, 0, 3.0), (False, 4, 3.0), (True, 4, 1.0),
     (False, 0, 0.0), (True, 4, 0.0), (False, 4, 500.0), (True, 0, 500.0)],
)  # fmt: skip
def test_forces_are_the_sum_over_pairs(name, margin, neighbours, truncation, spread, queries, rng):
    margin = margin or 0.1 * (name == "ndcg-difference")  # a difference needs one
    # rounded scores tie, and ties have the mean of all their orders
    scores = spread * np.round(rng.normal(size=queries.n_docs), 1)
    function = Lambda(name, neighbours, margin, truncation)
    force = function(scores, queries)
    for a, b in pairwise(queries.offsets):
        expected = pair_lambdas(function, scores[a:b], queries.labels[a:b])
        np.testing.assert_allclose(force[a:b], expected, rtol=1e-9, atol=1e-11)
    sums = np.add.reduceat(force, queries.offsets[:-1])
    np.testing.assert_allclose(sums, 0.0, atol=1e-9 * max(1.0, spread))


def test_threads_and_the_order_of_documents_change_nothing(queries, rng, monkeypatch):
    monkeypatch.setattr("letorbench.losses.base.queries_a_thread", lambda queries, documents: 1)
    scores, rows = np.round(rng.normal(size=queries.n_docs), 1), random_order(queries, rng)
    permuted = QuerySet(queries.features, queries.labels[rows], queries.offsets, queries.qids)
    for name in LAMBDAS:
        forces = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            forces.append(Lambda(name, margin=0.5)(scores, queries))
        assert all(np.array_equal(each, forces[0]) for each in forces)
        again = Lambda(name, margin=0.5)(scores[rows], permuted)
        np.testing.assert_allclose(again, forces[0][rows], rtol=1e-12, atol=1e-12)
