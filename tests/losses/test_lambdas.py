"""Every lambda function: against a loop over pairs, and Newton's third law."""

from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import odd_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.label_order import random_order
from letorbench.losses.lambdas import LAMBDAS, Lambda, pair_lambdas


def sigma(t: float) -> float:
    return 1.0 / (1.0 + np.exp(-t)) if t > -500.0 else 0.0


#: the force on the more relevant document from d = s_i - s_j, |dNDCG| and the margin
DEFINITIONS = {
    "ranknet": lambda d, swap, margin: sigma(margin - d),
    "ranknet-ndcg": lambda d, swap, margin: swap * sigma(margin - d),
    "step": lambda d, swap, margin: swap * (d < margin),
    "spring": lambda d, swap, margin: swap * max(0.0, margin - d),
    "ndcg-difference": lambda d, swap, margin: swap / max(abs(d), margin),
}


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    return odd_queries(rng, [1, 9, 2, 5, 14, 3], 5, 5)


@pytest.mark.parametrize(
    "name, margin",
    [
        (name, margin)
        for name in sorted(LAMBDAS)
        for margin in (0.0, 0.7)
        if margin or name != "ndcg-difference"
    ],
)
@pytest.mark.parametrize(
    "neighbours, truncation, spread",
    [(False, 0, 1.0), (True, 0, 3.0), (False, 4, 3.0), (True, 4, 1.0),
     (False, 0, 0.0), (True, 4, 0.0), (False, 4, 500.0), (True, 0, 500.0)],
)  # fmt: skip
def test_forces_are_the_sum_over_pairs(name, margin, neighbours, truncation, spread, queries, rng):
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
    monkeypatch.setattr("letorbench.losses.lambdas.query_share", lambda queries, documents: 1)
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


@pytest.mark.parametrize("neighbours", [False, True])
@pytest.mark.parametrize("name", sorted(LAMBDAS))
def test_tied_scores_have_the_mean_force_of_all_their_orders(name, neighbours, rng):
    labels, scores = np.array([0, 2, 1, 0, 1]), np.array([1.0, 0.5, 1.0, 1.0, 0.5])
    queries = QuerySet(np.zeros((5, 1), np.float32), labels, np.array([0, 5]), np.array([1]))
    function = Lambda(name, neighbours, margin=0.3)
    D = 1.0 / np.log2(2.0 + np.arange(5))
    Z = 3.0 * D[0] + D[1] + D[2]
    forces = []
    for ranking in permutations(range(5)):
        if any(scores[a] < scores[b] for a, b in pairwise(ranking)):
            continue
        rank, force = np.argsort(ranking), np.zeros(5)
        for i, j in permutations(range(5), 2):
            if labels[i] > labels[j] and (not neighbours or abs(rank[i] - rank[j]) == 1):
                swap = (2.0 ** labels[i] - 2.0 ** labels[j]) * abs(D[rank[i]] - D[rank[j]]) / Z
                pull = DEFINITIONS[name](scores[i] - scores[j], swap, 0.3)
                force[i] += pull
                force[j] -= pull
        forces.append(force)
    assert len(forces) == 12
    np.testing.assert_allclose(function(scores, queries), np.mean(forces, axis=0), atol=1e-14)


def test_a_difference_needs_a_margin():
    with pytest.raises(UsageError, match="found margin=0.0, expected more than 0"):
        Lambda("ndcg-difference")
