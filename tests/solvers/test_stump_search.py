"""The stump search against trying every threshold of every feature in both directions."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.errors import DataError, UsageError
from letorbench.solvers import stump_search
from letorbench.solvers.radix_sort import sorted_column
from letorbench.solvers.stump_search import BinnedFeatures, best_stump


def every_stump(features: np.ndarray, weights: np.ndarray) -> float:
    """The largest sum of weights over all stumps that separate something."""
    best = 0.0
    for column in features.T:
        for value in np.unique(column)[:-1]:
            best = max(best, weights[column > value].sum(), weights[column <= value].sum())
    return best


@pytest.mark.parametrize("levels", [2, 30, 5000])
def test_exact_search_finds_the_best_of_all(rng: np.random.Generator, levels: int) -> None:
    features = (rng.integers(0, levels, size=(400, 6)) / levels).astype(np.float32)
    features[:, 2] = 0.5
    for _ in range(5):
        weights = rng.normal(size=400)
        weights -= weights.mean()  # so that one side of a cut always has a positive sum
        binned = BinnedFeatures.of(features)
        stump, values, gain = best_stump(binned, weights)
        assert gain == pytest.approx(every_stump(features, weights), rel=1e-12)
        np.testing.assert_array_equal(stump(features), values)
        assert weights[stump(features)].sum() == pytest.approx(gain, rel=1e-12)


def test_bins_agree_with_exact_where_they_hold_every_value(rng: np.random.Generator) -> None:
    features = rng.integers(0, 50, size=(3000, 7)).astype(np.float32)
    weights = rng.normal(size=3000)
    exact, binned = BinnedFeatures.of(features), BinnedFeatures.of(features, 51)
    (stump, values, gain), other = best_stump(exact, weights), best_stump(binned, weights)
    assert (stump, gain) == (other[0], other[2])
    np.testing.assert_array_equal(values, other[1])


def test_bins_share_the_documents_about_evenly(rng: np.random.Generator) -> None:
    features = rng.exponential(size=(10_000, 1)).astype(np.float32)
    binned = BinnedFeatures.of(features, 100)
    assert 90 <= binned.n_bins[0] <= 100
    assert np.bincount(binned.codes[0]).max() <= 200
    ordered = np.argsort(features[:, 0], kind="stable")
    assert (np.diff(binned.codes[0][ordered].astype(int)) >= 0).all()


def test_many_distinct_values_take_wider_codes(rng: np.random.Generator) -> None:
    features = np.arange(70_000, dtype=np.float32)[:, None]
    binned = BinnedFeatures.of(features)
    assert binned.codes.dtype == np.uint32
    weights = np.where(np.arange(70_000) > 69_000, 1.0, -1.0)
    stump, _, gain = best_stump(binned, weights)
    assert (stump.threshold, stump.above, gain) == (69_000.5, True, 999.0)


def test_constant_features_separate_nothing() -> None:
    binned = BinnedFeatures.of(np.ones((5, 3), dtype=np.float32))
    assert best_stump(binned, np.array([1.0, -1, 2, 3, 4])) is None


@pytest.mark.parametrize("dtype", [np.float64, np.int64, ">f4"])
def test_features_of_any_type_find_the_same_stump(rng: np.random.Generator, dtype: str) -> None:
    """float64 bits read as float32 once gave wrong thresholds in silence."""
    features = rng.integers(0, 50, size=(300, 4)).astype(dtype)
    weights = rng.normal(size=300)
    right = best_stump(BinnedFeatures.of(features.astype(np.float32)), weights)
    for given in (features, np.asfortranarray(features)):
        stump, values, gain = best_stump(BinnedFeatures.of(given), weights)
        assert (stump, gain) == (right[0], right[2])
        assert weights[values].sum() == pytest.approx(gain, rel=1e-12)


def test_what_cannot_be_binned_is_refused() -> None:
    with pytest.raises(DataError, match="beyond float32"):
        BinnedFeatures.of(np.array([[1e300], [0.0]]))
    for bins in (1, 0, -3):
        with pytest.raises(UsageError, match=f"found bins={bins}, expected 2 or more"):
            BinnedFeatures.of(np.zeros((3, 1), np.float32), bins)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.uint32])
@pytest.mark.parametrize("n_docs", [1, 2, 7, 500])
def test_best_sums_against_every_cut(rng: np.random.Generator, dtype: type, n_docs: int) -> None:
    n_bins = np.array([1, 2, 5, 200, 90, 255, 3, 1, 17], dtype=np.int64)
    if dtype is not np.uint8:
        n_bins = np.concatenate([n_bins, [300, 1000, 257, 4, 700]]).astype(np.int64)
    codes = np.stack([rng.integers(0, n, n_docs) for n in n_bins]).astype(dtype)
    weights = rng.normal(size=n_docs)
    best = np.zeros((len(n_bins), 2))
    stump_search._best_sums(codes, n_bins, weights, weights.sum(), best)
    for k, bins in enumerate(n_bins):
        below = [weights[codes[k] <= b].sum() for b in range(bins - 1)]
        above = [weights[codes[k] > b].sum() for b in range(bins - 1)]
        np.testing.assert_allclose(best[k], [max([0, *below]), max([0, *above])], atol=1e-12)
        if bins > 1:
            cut = stump_search._best_cut(codes[k], int(bins), weights, -1.0)
            np.testing.assert_allclose(weights[codes[k] > cut].sum(), max(above), atol=1e-12)


@pytest.mark.parametrize("max_bins", [None, 2, 3, 100, 300])
def test_a_code_counts_the_cuts_below(rng: np.random.Generator, max_bins: int | None) -> None:
    features = rng.normal(size=(1100, 3)).astype(np.float32)
    features[:, 1] = np.round(features[:, 1], 1)
    features[:, 2] = 0.0
    features[:9, 0] = [0.0, -0.0, 1e-42, -1e-42, -3e38, 3e38, 1.0, np.nextafter(1, 2), 1.0]
    binned = BinnedFeatures.of(features, max_bins)
    for k, cuts in enumerate(binned.cuts):
        expected = (cuts[None, :] < features[:, k : k + 1].astype(np.float64)).sum(axis=1)
        np.testing.assert_array_equal(binned.codes[k], expected)


def test_sort_column_orders_floats_by_their_bits(rng: np.random.Generator) -> None:
    features = rng.normal(size=(3000, 2)).astype(np.float32)
    features[:6, 1] = [0.0, -0.0, 1e-42, -1e-42, -3e38, 3e38]
    values, rows = sorted_column(features[:, 1].copy())
    np.testing.assert_array_equal(values, np.sort(features[:, 1]))
    np.testing.assert_array_equal(features[rows, 1], values)
    assert len(set(rows.tolist())) == len(rows)
