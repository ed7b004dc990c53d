"""Ranks of the relevant documents against a stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.measures.counting import COUNTED
from letorbench.measures.relevant_ranks import relevant_ranks

#: queries of few hits, which are counted, and of many, which are sorted
SHORT, LONG = np.array([0, 1, 41, 41, 43, 150]), np.array([0, 90, 4 * COUNTED, 5 * COUNTED])


@pytest.mark.parametrize("offsets", [SHORT, LONG])
@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_against_a_stable_sort(rng: np.random.Generator, levels: int, offsets: np.ndarray) -> None:
    check(rng, rng.integers(0, levels, offsets[-1]).astype(np.float64), offsets)


@pytest.mark.parametrize("offsets", [SHORT, LONG])
def test_scores_that_single_precision_does_not_hold(
    rng: np.random.Generator, offsets: np.ndarray
) -> None:
    for spread in (1e-15, 1e-9, 1e-7):
        check(rng, 1.0 + spread * rng.integers(-30, 30, offsets[-1]), offsets)
    extreme = np.array([-np.inf, -1e300, -1e200, -1e-300, 0.0, -0.0, 1e-300, 1e200, 1e300, np.inf])
    for values in extreme, extreme[:3], extreme[[0, -1]]:
        check(rng, rng.choice(values, offsets[-1]), offsets)


def check(rng: np.random.Generator, scores: np.ndarray, offsets: np.ndarray) -> None:
    """Compare the ranks of a third of the documents with those of a stable sort."""
    hits = np.flatnonzero(rng.random(len(scores)) < 0.3)
    ranks = np.empty(len(hits), dtype=np.int64)
    relevant_ranks(scores, offsets, hits, np.searchsorted(hits, offsets), ranks)
    expected = np.empty(len(scores), dtype=np.int64)
    for begin, end in zip(offsets, offsets[1:]):
        order = np.argsort(-scores[begin:end], kind="stable")
        expected[begin + order] = np.arange(1, end - begin + 1)
    np.testing.assert_array_equal(ranks, expected[hits])
