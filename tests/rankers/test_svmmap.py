"""SVM-MAP's objective and its greedy ranking against every ranking; its gap against SLSQP."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from conftest import random_queries, unlocked
from letorbench.solvers.margin_by_trees import sort

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.rankers.svmmap import (
    SVMMAP,
    MAPRisk,
    average_precision,
    most_violated,
    psi_weights,
    structural_hinge,
)


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    made = random_queries(rng, [5, 1, 6, 0, 4, 5], n_features=3, levels=3)
    with unlocked(made):
        made.labels[:2], made.labels[6:8], made.labels[12:16] = (0, 2), (1, 0), 0
    return made


def constraints(queries: QuerySet) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of each query with both kinds: every ranking's loss, and Psi(y) - Psi(y')."""
    found = []
    for a, b in zip(queries.offsets[:-1], queries.offsets[1:], strict=True):
        x, good = queries.features[a:b].astype(np.float64), queries.labels[a:b] >= 1
        if not good.any() or good.all():
            continue
        losses, differences = [], []
        for ranking in permutations(range(b - a)):
            place = np.argsort(ranking)
            pairs = [(i, j) for i in np.flatnonzero(good) for j in np.flatnonzero(~good)]
            wrong = [x[i] - x[j] for i, j in pairs if place[i] > place[j]]
            ranks = np.flatnonzero(good[list(ranking)]) + 1
            losses.append(1.0 - np.mean(np.arange(1, len(ranks) + 1) / ranks))
            differences.append(2.0 * np.sum(wrong, axis=0) / len(pairs) + np.zeros(x.shape[1]))
        found.append((np.array(losses), np.array(differences)))
    return found


def objective(w: np.ndarray, all_rankings: list, C: float) -> float:
    slacks = [np.max(loss - difference @ w) for loss, difference in all_rankings]
    return float(w @ w / 2 + C * np.mean(slacks))


@pytest.mark.parametrize("C", [0.1, 1.0, 100.0])
def test_gap_holds_against_all_rankings(queries: QuerySet, C: float) -> None:
    """The optimum comes from a linear-constraint solver that knows every ranking of each query."""
    from scipy.optimize import minimize

    rankings = constraints(queries)
    assert len(rankings) == MAPRisk(queries).n
    n = len(rankings)
    slacks = np.eye(n)
    rows = [
        np.hstack([d, np.tile(e, (len(d), 1))]) for e, (_, d) in zip(slacks, rankings, strict=True)
    ]
    A, b = np.vstack(rows), np.concatenate([loss for loss, _ in rankings])
    ranker = SVMMAP(C=C, gap=1e-5).fit_sets(queries)
    w = ranker.learned.model.weights
    mine = objective(w, rankings, C)
    assert ranker.learned.objective[-1] == pytest.approx(mine, rel=1e-9)
    start = np.append(np.zeros(3), np.ones(n))
    best = minimize(
        lambda z: (z[:3] @ z[:3] / 2 + C * z[3:].mean(), np.append(z[:3], np.full(n, C / n))),
        start,
        jac=True,
        constraints={"type": "ineq", "fun": lambda z: A @ z - b, "jac": lambda z: A},
        method="SLSQP",
        options={"ftol": 1e-12, "maxiter": 1000},
    )
    reached = objective(best.x[:3], rankings, C)
    assert mine <= reached * (1 + 1e-5) + 1e-12
    assert mine >= best.fun * (1 - 1e-6)


def test_risk_is_convex_and_its_slope_a_subgradient(
    queries: QuerySet, rng: np.random.Generator
) -> None:
    risk = MAPRisk(queries)
    for _ in range(20):
        w, v = 3 * rng.normal(size=(2, 3))
        value, slope = risk(w)
        assert value >= -1e-12
        assert risk(v)[0] >= value + slope @ (v - w) - 1e-12


def test_threads_change_nothing(rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch) -> None:
    made = random_queries(rng, [40, 3, 1500, 2000, 1, 2500, 700], n_features=6, levels=4)
    weights = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        weights.append(SVMMAP().fit_sets(made).learned.model.weights)
    assert weights[0].any() and np.array_equal(*weights)


def test_nothing_to_learn_is_said(rng: np.random.Generator) -> None:
    learned = SVMMAP().fit_sets(random_queries(rng, [1, 4, 3], levels=1)).learned
    assert not learned.model.weights.any() and len(learned.warnings) == 1


@pytest.mark.parametrize("wrong", [{"C": 0.0}, {"gap": 0.0}])
def test_wrong_settings(queries: QuerySet, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        SVMMAP(**wrong).fit_sets(queries)


def greedy(
    scores: np.ndarray, relevant: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    order = np.empty(len(scores), dtype=np.int64)
    weights, losses = np.full(len(scores), np.nan), np.full(len(offsets) - 1, np.nan)
    sort(scores, offsets, 0, len(losses), order)
    most_violated(scores, relevant, order, offsets, 0, len(losses), weights, losses)
    return weights, losses


@pytest.mark.parametrize("spread", [0.0, 0.1, 0.5, 2.0, 10.0])
@pytest.mark.parametrize("length", [2, 3, 5, 7])
def test_no_ranking_is_violated_more(rng: np.random.Generator, length: int, spread: float) -> None:
    offsets = np.array([0, length], dtype=np.int64)
    for _ in range(1 if length == 7 else 10):
        relevant = rng.random(length) < 0.5
        relevant[:2] = rng.permutation([True, False])
        scores = np.round(spread * rng.normal(size=length), 1)  # ties too
        weights, losses = greedy(scores, relevant, offsets)
        ideal = psi_weights(relevant, tuple(np.argsort(~relevant, kind="stable")))
        matches = False
        for ranking in permutations(range(length)):
            loss = 1.0 - average_precision(relevant[list(ranking)])
            difference = ideal - psi_weights(relevant, ranking)
            matches |= bool(np.isclose(loss, losses[0]) and np.allclose(difference, weights))
        assert matches  # it is the loss and the features of one and the same real ranking
        assert losses[0] - weights @ scores == pytest.approx(
            structural_hinge(scores, relevant), abs=1e-12
        )


def test_queries_of_one_label_have_no_loss(rng: np.random.Generator) -> None:
    offsets = np.array([0, 3, 6, 6, 7], dtype=np.int64)
    relevant = np.array([1, 1, 1, 0, 0, 0, 1], dtype=bool)
    weights, losses = greedy(rng.normal(size=7), relevant, offsets)
    assert not weights.any() and not losses.any()


@pytest.mark.parametrize(
    ("labels", "both"),
    [
        ([(0, 0), (1, 0), (1, 2), (0, 1, 0)], 2),
        ([(1, 1), (0,)], 0),
        ([(0, 2, 0), (0, 0)], 1),
        ([(0,), (1,)], 0),
    ],
)
def test_queries_with_relevant_and_other_documents_count(labels, both):
    offsets = np.cumsum([0, *map(len, labels)])
    joined = np.concatenate(labels).astype(np.int32)
    queries = QuerySet(
        np.zeros((len(joined), 1), np.float32), joined, offsets, np.arange(len(labels))
    )
    assert MAPRisk(queries).n == both
