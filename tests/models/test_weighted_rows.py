"""Weighted row sums against NumPy's product, with the same bits for any number of threads."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.models.weighted_rows import BLOCK, add_rows, weighted_rows


@pytest.mark.parametrize("rows", [0, 1, BLOCK, 9 * BLOCK + 17])
def test_matches_numpy_whatever_the_threads(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, rows: int
) -> None:
    features = rng.normal(size=(rows, 7)).astype(np.float32)
    weights = rng.normal(size=rows) * (rng.random(rows) < 0.5)
    sums = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        sums.append(weighted_rows(features, weights))
    assert np.array_equal(sums[0], sums[1]) and np.array_equal(sums[0], sums[2])
    assert np.allclose(sums[0], weights @ features.astype(np.float64), rtol=0, atol=1e-10)


@pytest.mark.parametrize("rows", [0, 1, 3, 4, 11])
def test_rows_are_added_to_a_total(rng: np.random.Generator, rows: int) -> None:
    features, weights = rng.normal(size=(rows, 7)).astype(np.float32), rng.normal(size=rows)
    total = np.ones(7)
    add_rows(features, weights, total)
    assert np.allclose(total, 1.0 + weights @ features.astype(np.float64), rtol=0, atol=1e-13)
