"""The search that excludes most cuts against the one that tries them all, bit for bit."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from letorbench.errors import DataError
from letorbench.solvers import sorted_search
from letorbench.solvers.sorted_features import COARSE, CUT, ROW, SortedFeatures
from letorbench.solvers.sorted_search import best_of_all
from letorbench.solvers.stump_search import BinnedFeatures, best_stump


def many_kinds(rng: np.random.Generator, n_docs: int) -> np.ndarray:
    """Features of few, of many and of very unequal values, copies, a constant, and -0.0."""
    normal = rng.normal(size=(n_docs, 9))
    normal[:, 1] = -normal[:, 0]
    normal[:, 2] = np.round(normal[:, 0], 2)
    normal[:, 3] = 7.0
    normal[:, 4] = np.where(rng.random(n_docs) < 0.7, 0.0, normal[:, 4])
    normal[:, 5] = rng.integers(0, 3, n_docs) - 1.0
    normal[:, 5][normal[:, 5] == 0.0] = rng.choice([0.0, -0.0], (normal[:, 5] == 0.0).sum())
    normal[:, 6] = np.where(rng.random(n_docs) < 0.5, rng.integers(0, 3, n_docs), normal[:, 6])
    normal[:, 7] = np.arange(n_docs)
    return np.hstack([normal, normal[:, :2]]).astype(np.float32)


@pytest.mark.parametrize("n_docs", [1, 2, 7, 256, 300, 5000])
def test_the_same_stump_as_of_every_cut(rng: np.random.Generator, n_docs: int) -> None:
    """To the last bit, but where `best_stump` sums four features of few values together."""
    for features in (many_kinds(rng, n_docs), np.roll(many_kinds(rng, n_docs), -1, axis=1)):
        binned, ordered = BinnedFeatures.of(features), SortedFeatures.of(features)
        for weights in many_weights(rng, features):
            right, found = best_stump(binned, weights), best_of_all(ordered, weights)
            assert (found is None) == (right is None)
            if found is None or right is None:
                continue
            assert found[2] == pytest.approx(right[2], rel=1e-12)
            assert weights[found[1]].sum() == pytest.approx(right[2], rel=1e-10)
            np.testing.assert_array_equal(found[0](features), found[1])
            if n_docs > 256:
                assert (found[0], found[2]) == (right[0], right[2])


def many_weights(rng: np.random.Generator, features: np.ndarray) -> Iterator[np.ndarray]:
    """Weights with and without ties, of one sign, and that a feature tells of."""
    n_docs = len(features)
    for _ in range(3):
        normal = rng.normal(size=n_docs)
        yield normal
        yield normal - normal.mean()
        yield -(normal**2)
        yield rng.integers(-2, 3, n_docs).astype(float)
        yield np.where(rng.random(n_docs) < 0.1, 9.0, -1.0) * np.abs(normal)
        yield normal + (features[:, rng.integers(0, 9)] > rng.normal())


def test_weights_of_zero_find_no_stump(rng: np.random.Generator) -> None:
    ordered = SortedFeatures.of(many_kinds(rng, 600))
    assert best_of_all(ordered, np.zeros(600)) is None
    assert best_of_all(SortedFeatures.of(np.ones((600, 3))), rng.normal(size=600)) is None


def test_most_features_are_excluded(rng: np.random.Generator) -> None:
    features = rng.normal(size=(4000, 40)).astype(np.float32)
    ordered = SortedFeatures.of(features).documents
    weights = rng.normal(size=4000) + 0.5 * (features[:, 7] > 0.5)
    weights -= weights.mean()
    assert sorted_search._possible(ordered, weights, weights.sum()).tolist() == [7]


@pytest.mark.parametrize("n_docs", [2, 300, 5000])
def test_bounds_hold_and_cuts_inside_a_bin_are_tried(rng: np.random.Generator, n_docs: int) -> None:
    features, weights = many_kinds(rng, n_docs), rng.normal(size=n_docs)
    documents, total = SortedFeatures.of(features).documents, float(weights.sum())
    searched = np.array([8, 0, 1, 2, 3, 4, 5, 6, 7])
    sums = sorted_search._Sums(*np.empty((2, 11, COARSE)), *np.empty((2, 11)))
    sorted_search._bound(searched, documents, weights, total, sums)
    codes, between = documents.codes, sums.best.copy()
    sorted_search._refine(searched, documents, weights, total, -np.inf, sums)
    for k in searched:
        largest = {True: [0.0], False: [0.0]}
        inside = np.full(COARSE, -np.inf)
        for value in np.unique(features[:, k])[:-1]:
            below = float(weights[features[:, k] <= value].sum())
            bin_below = int(codes[k][features[:, k] <= value].max())
            is_between = not (codes[k][features[:, k] > value] == bin_below).any()
            largest[is_between].append(max(below, total - below))
            if not is_between:
                inside[bin_below] = max(inside[bin_below], below, total - below)
        assert (inside <= sums.bound[k] + 1e-10).all()
        assert sums.highest[k] == sums.bound[k].max()
        assert between[k] == pytest.approx(max(largest[True]), abs=1e-10)
        assert sums.best[k] == pytest.approx(max(largest[True] + largest[False]), abs=1e-10)
        binned = np.bincount(codes[k], weights, COARSE)
        np.testing.assert_allclose(sums.before[k], np.cumsum(binned) - binned, atol=1e-11)


@pytest.mark.parametrize("n_docs", [1, 200, 256, 257, 1000, 5001])
def test_the_coarse_bins_hold_whole_values(rng: np.random.Generator, n_docs: int) -> None:
    features = many_kinds(rng, n_docs)
    ordered = SortedFeatures.of(features).documents
    for k, column in enumerate(features.T):
        rows, starts = ordered.rows[k] & ROW, ordered.starts[k]
        np.testing.assert_array_equal(rows, np.argsort(column, kind="stable"))
        larger = column[rows[1:]] > column[rows[:-1]]
        np.testing.assert_array_equal((ordered.rows[k] & CUT) > 0, np.append(larger, False))
        assert ordered.n_values[k] == len(np.unique(column))
        assert starts[0] == 0 and starts[-1] == n_docs and (np.diff(starts) >= 0).all()
        for c in range(COARSE):
            inside = column[rows[starts[c] : starts[c + 1]]]
            assert ordered.several[k, c] == (len(np.unique(inside)) > 1)
            assert len(inside) <= -(-n_docs // (COARSE // 2)) or not ordered.several[k, c]
            np.testing.assert_array_equal(ordered.codes[k] == c, np.isin(column, inside))
        assert ordered.n_values[k] > COARSE or not ordered.several[k].any()


@pytest.mark.parametrize("dtype", [np.float64, np.int64, ">f4"])
def test_features_of_any_type_find_the_same_stump(rng: np.random.Generator, dtype: str) -> None:
    features = rng.integers(0, 500, size=(900, 4)).astype(dtype)
    weights = rng.normal(size=900)
    right = best_stump(BinnedFeatures.of(features), weights)
    for given in (features, np.asfortranarray(features)):
        found = best_of_all(SortedFeatures.of(given), weights)
        assert (found[0], found[2]) == (right[0], right[2])
    with pytest.raises(DataError, match="beyond float32"):
        SortedFeatures.of(np.array([[1e300], [0.0]]))
