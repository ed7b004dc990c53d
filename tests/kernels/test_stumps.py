"""The stump kernels against NumPy: sums over every cut, codes, the radix sort."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.kernels import stumps


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n_docs", [1, 2, 7, 500])
def test_best_sums_against_every_cut(rng: np.random.Generator, dtype: type, n_docs: int) -> None:
    n_bins = np.array([1, 2, 5, 200, 90, 255, 3, 1, 17], dtype=np.int64)
    if dtype is not np.uint8:
        n_bins = np.concatenate([n_bins, [300, 1000, 257, 4, 700]]).astype(np.int64)
    codes = np.stack([rng.integers(0, n, n_docs) for n in n_bins]).astype(dtype)
    weights = rng.normal(size=n_docs)
    best = np.zeros((len(n_bins), 2))
    stumps.best_sums(codes, n_bins, weights, weights.sum(), 0, len(n_bins), best)
    for k, bins in enumerate(n_bins):
        below = [weights[codes[k] <= b].sum() for b in range(bins - 1)]
        above = [weights[codes[k] > b].sum() for b in range(bins - 1)]
        np.testing.assert_allclose(best[k], [max([0, *below]), max([0, *above])], atol=1e-12)
        if bins > 1:
            cut = stumps.best_cut(codes[k], int(bins), weights, -1.0)
            np.testing.assert_allclose(weights[codes[k] > cut].sum(), max(above), atol=1e-12)


@pytest.mark.parametrize("n_cuts", [0, 1, 2, 3, 7, 8, 100, 255])
def test_encode_counts_the_cuts_below(rng: np.random.Generator, n_cuts: int) -> None:
    cuts = np.sort(rng.normal(size=n_cuts))
    features = rng.normal(size=(1100, 1)).astype(np.float32)
    features[:n_cuts, 0] = cuts  # values on, just above and just below the cuts
    codes = np.empty((1, 1100), dtype=np.uint16)
    stumps.encode(features, cuts, np.array([0, n_cuts]), 0, 1100, codes)
    expected = (cuts[None, :] < features[:, :1].astype(np.float64)).sum(axis=1)
    np.testing.assert_array_equal(codes[0], expected)


def test_sort_column_orders_floats_by_their_bits(rng: np.random.Generator) -> None:
    features = rng.normal(size=(3000, 2)).astype(np.float32)
    features[:6, 1] = [0.0, -0.0, 1e-42, -1e-42, -3e38, 3e38]
    keys, spare = np.empty((2, 3000), dtype=np.uint32)
    stumps.sort_column(features.view(np.uint32), 1, keys, spare)
    np.testing.assert_array_equal(keys.view(np.float32), np.sort(features[:, 1]))
