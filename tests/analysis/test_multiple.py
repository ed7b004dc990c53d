"""Adjusted p-values against hand-computed ones and the procedures' own steps."""

from __future__ import annotations

import numpy as np
import pytest
from letorbench.analysis.multiple import CORRECTIONS, adjust, benjamini_hochberg, holm

from letorbench.errors import UsageError


def holm_rejects(p: np.ndarray, alpha: float) -> np.ndarray:
    """Step down from the smallest until p > alpha / (hypotheses left)."""
    rejected = np.zeros(len(p), dtype=bool)
    for done, i in enumerate(np.argsort(p, kind="stable")):
        if p[i] > alpha / (len(p) - done):
            break
        rejected[i] = True
    return rejected


def bh_rejects(p: np.ndarray, alpha: float) -> np.ndarray:
    """All up to the largest i with p_(i) <= i alpha / m."""
    order = np.argsort(p, kind="stable")
    passing = [i for i in range(len(p)) if p[order[i]] <= (i + 1) * alpha / len(p)]
    rejected = np.zeros(len(p), dtype=bool)
    rejected[order[: max(passing, default=-1) + 1]] = True
    return rejected


def test_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert holm(p) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)
    assert benjamini_hochberg(p) == pytest.approx([0.02, 0.04, 0.04, 0.02], abs=1e-15)


def test_ties_and_bounds_by_hand():
    p = np.array([0.02, 0.02, 0.9, 1.0, 0.0])
    assert holm(p) == pytest.approx([0.08, 0.08, 1.0, 1.0, 0.0], abs=1e-15)
    assert benjamini_hochberg(p) == pytest.approx([0.1 / 3, 0.1 / 3, 1.0, 1.0, 0.0], abs=1e-15)


@pytest.mark.parametrize("name, rejects", [("holm", holm_rejects), ("bh", bh_rejects)])
@pytest.mark.parametrize("seed", range(20))
def test_rejects_what_the_procedure_rejects(name, rejects, seed):
    rng = np.random.default_rng(seed)
    p = np.round(rng.random(rng.integers(1, 15)) ** 3, 2)  # small ones, and ties
    adjusted = adjust(name, p)
    for alpha in rng.random(25) * 0.3:
        np.testing.assert_array_equal(adjusted <= alpha, rejects(p, alpha))


@pytest.mark.parametrize("name", CORRECTIONS)
def test_shape_of_the_answer(rng, name):
    p = rng.random(40)
    p[7] = p[21]
    adjusted = adjust(name, p)
    assert adjusted[7] == adjusted[21]
    assert (np.diff(adjusted[np.argsort(p)]) >= 0).all()
    assert (adjusted >= p).all() and (adjusted <= 1).all()
    shuffle = rng.permutation(40)
    np.testing.assert_array_equal(adjust(name, p[shuffle]), adjusted[shuffle])
    assert len(adjust(name, np.empty(0))) == 0
    assert adjust(name, np.array([0.03])) == [0.03]


def test_bad_input():
    with pytest.raises(UsageError, match="holm, bh, none"):
        adjust("bonferroni", np.array([0.1]))
    for bad in ([0.1, np.nan], [1.1], [-0.1], [[0.1]]):
        with pytest.raises(ValueError):
            holm(np.array(bad))
