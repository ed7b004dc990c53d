"""The stump search against trying every threshold of every feature in both directions."""

from __future__ import annotations

import numpy as np
import pytest

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
        stump, cut, gain = best_stump(binned, weights)
        assert gain == pytest.approx(every_stump(features, weights), rel=1e-12)
        np.testing.assert_array_equal(stump(features), binned.flags(stump, cut))
        assert weights[stump(features)].sum() == pytest.approx(gain, rel=1e-12)


def test_bins_agree_with_exact_where_they_hold_every_value(rng: np.random.Generator) -> None:
    features = rng.integers(0, 50, size=(3000, 7)).astype(np.float32)
    weights = rng.normal(size=3000)
    exact, binned = BinnedFeatures.of(features), BinnedFeatures.of(features, 51)
    assert best_stump(exact, weights) == best_stump(binned, weights)


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
