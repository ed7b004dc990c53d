"""Ranks of the relevant documents against a stable sort."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.measures.prepared import relevant_ranks


@pytest.mark.parametrize("levels", [1, 4, 10**6])
def test_against_a_stable_sort(rng: np.random.Generator, levels: int) -> None:
    offsets = np.array([0, 1, 41, 41, 43, 150], dtype=np.int64)
    scores = rng.integers(0, levels, 150).astype(np.float64)
    hits = np.flatnonzero(rng.random(150) < 0.3)
    ranks = np.empty(len(hits), dtype=np.int64)
    relevant_ranks(scores, offsets, hits, np.searchsorted(hits, offsets), ranks)
    expected = np.empty(150, dtype=np.int64)
    for begin, end in zip(offsets, offsets[1:]):
        order = np.argsort(-scores[begin:end], kind="stable")
        expected[begin + order] = np.arange(1, end - begin + 1)
    np.testing.assert_array_equal(ranks, expected[hits])
