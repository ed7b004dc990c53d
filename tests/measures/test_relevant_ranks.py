"""Ranks of the relevant documents against a stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.measures.prepared import COUNTED, relevant_ranks

#: queries of few hits, which are counted, and of many, which are sorted
SHORT, LONG = np.array([0, 1, 41, 41, 43, 150]), np.array([0, 90, 4 * COUNTED, 5 * COUNTED])


@pytest.mark.parametrize("offsets", [SHORT, LONG])
@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_against_a_stable_sort(rng: np.random.Generator, levels: int, offsets: np.ndarray) -> None:
    scores, hits = drawn(rng, levels, offsets)
    ranks = np.empty(len(hits), dtype=np.int64)
    relevant_ranks(scores, offsets, hits, np.searchsorted(hits, offsets), ranks)
    expected = np.empty(len(scores), dtype=np.int64)
    for begin, end in zip(offsets, offsets[1:]):
        order = np.argsort(-scores[begin:end], kind="stable")
        expected[begin + order] = np.arange(1, end - begin + 1)
    np.testing.assert_array_equal(ranks, expected[hits])


def drawn(
    rng: np.random.Generator, levels: int, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Scores of few or many levels, and a third of the documents, sorted."""
    scores = rng.integers(0, levels, offsets[-1]).astype(np.float64)
    return scores, np.flatnonzero(rng.random(len(scores)) < 0.3)
