"""SVM-MAP's greedy ranking against every ranking; its optimum against SLSQP."""

from __future__ import annotations

from itertools import pairwise, permutations

import numpy as np
import pytest
from conftest import random_queries, unlocked
from scipy.optimize import minimize

from letorbench.errors import UsageError
from letorbench.rankers.svmmap import (
    SVMMAP,
    MAPRisk,
    average_precision,
    most_violated,
    psi_weights,
    structural_hinge,
)


def rankings(x: np.ndarray, relevant: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return 1 - AP and Psi(x, y) - Psi(x, y') of every ranking y' of documents x (n_docs, d)."""
    ideal = psi_weights(relevant, tuple(np.argsort(~relevant, kind="stable")))
    every = list(permutations(range(len(relevant))))
    losses = [1.0 - average_precision(relevant[list(ranking)]) for ranking in every]
    weights = [ideal - psi_weights(relevant, ranking) for ranking in every]
    return np.array(losses), np.array(weights) @ x


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_the_optimum_over_all_rankings_is_reached(rng, C):
    """The reference is a solver that knows every ranking of each query."""
    queries = random_queries(rng, [5, 1, 6, 0, 4, 5], n_features=3)
    with unlocked(queries):
        queries.labels[:2], queries.labels[6:8], queries.labels[12:16] = (0, 2), (1, 0), 0
    parts = []
    for begin, end in pairwise(queries.offsets):
        relevant = queries.labels[begin:end] >= 1
        if relevant.any() and not relevant.all():
            parts.append(rankings(queries.features[begin:end].astype(np.float64), relevant))
    n = len(parts)

    def objective(w: np.ndarray) -> float:
        slacks = [np.max(losses - differences @ w) for losses, differences in parts]
        return float(w @ w / 2 + C * np.mean(slacks))

    learned = SVMMAP(C=C, gap=1e-5).fit_sets(queries).learned
    mine = objective(learned.model.weights)
    assert n == MAPRisk(queries).n and learned.objective[-1] == pytest.approx(mine, rel=1e-9)
    A = np.vstack([
        np.hstack([d, np.tile(slack, (len(d), 1))])
        for slack, (_, d) in zip(np.eye(n), parts, strict=True)
    ])  # fmt: skip
    b = np.concatenate([losses for losses, _ in parts])
    reference = minimize(
        lambda z: (z[:3] @ z[:3] / 2 + C * z[3:].mean(), np.append(z[:3], np.full(n, C / n))),
        np.append(np.zeros(3), np.ones(n)),
        jac=True,
        constraints={"type": "ineq", "fun": lambda z: A @ z - b, "jac": lambda z: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    assert reference.fun * (1.0 - 1e-6) <= mine <= objective(reference.x[:3]) * (1.0 + 1e-5)


def test_queries_of_one_label_and_wrong_settings(rng):
    made = random_queries(rng, [1, 4, 3], levels=1)
    learned = SVMMAP().fit_sets(made).learned
    assert not learned.model.weights.any()
    assert [each.kind for each in learned.warnings] == ["nothing learned"]
    for wrong in ({"C": 0.0}, {"gap": 0.0}):
        with pytest.raises(UsageError, match=f"found {next(iter(wrong))}=0.0"):
            SVMMAP(**wrong).fit_sets(made)


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("length", [2, 3, 5, 7])
def test_no_ranking_is_violated_more(rng, length, spread):
    """Between two queries of one label, which have no loss."""
    offsets = np.array([0, 2, 2 + length, 5 + length], dtype=np.int64)
    own = slice(2, 2 + length)
    for _ in range(1 if length == 7 else 10):
        relevant = np.append(rng.random(2 + length) < 0.5, [True] * 3)
        relevant[:2] = False
        relevant[2:4] = rng.permutation([True, False])
        scores = np.round(spread * rng.normal(size=5 + length), 1)  # ties too
        weights, losses = np.full(len(scores), np.nan), np.full(3, np.nan)
        most_violated(scores, relevant, offsets, 0, 3, weights, losses)
        assert losses[[0, 2]].tolist() == [0.0, 0.0] and not np.delete(weights, own).any()
        every_loss, every_weight = rankings(np.eye(length), relevant[own])
        same = np.isclose(every_loss, losses[1]) & np.isclose(every_weight, weights[own]).all(1)
        assert same.any()  # it is the loss and the features of one and the same real ranking
        violation = losses[1] - weights @ scores
        assert violation == pytest.approx(np.max(every_loss - every_weight @ scores[own]))
        assert violation == pytest.approx(structural_hinge(scores[own], relevant[own]), abs=1e-12)
