"""The greedy ranking of SVM-MAP against every ranking of short lists."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest

from letorbench.rankers.svmmap import (
    average_precision,
    most_violated,
    psi_weights,
    structural_hinge,
)
from letorbench.solvers.margin_by_trees import sort


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
