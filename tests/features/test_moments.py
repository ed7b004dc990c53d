"""Means, variances, centred products and copies of columns against NumPy's."""

import numpy as np
import pytest

from letorbench.features.moments import (
    CACHED_ROWS,
    SHARES,
    centred_products,
    contiguous_columns,
    mean_and_scale,
    mean_and_variance,
)


def test_moments_are_numpys_and_constant_columns_stay_finite(rng):
    features = rng.random((1_000, 4), dtype=np.float32)
    features[:, 2] = 0.7
    mean, variance = mean_and_variance(features)
    wide = features.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(variance, wide.var(axis=0), rtol=1e-12, atol=1e-20)
    mean, scale = mean_and_scale(features)
    np.testing.assert_allclose(scale[[0, 1, 3]], wide.std(axis=0)[[0, 1, 3]], rtol=1e-12)
    assert scale[2] == 1.0


@pytest.mark.parametrize("rows", [300, CACHED_ROWS * (SHARES + 2) + 7])
def test_centred_products_are_numpys_covariances(rows, rng, monkeypatch):
    features = rng.random((rows, 4), dtype=np.float32)
    target = rng.normal(size=rows)
    found = []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        mean = features.mean(axis=0, dtype=np.float64)
        found.append(centred_products(features, mean, target - target.mean()))
    squares, products = found[0]
    for other in found[1:]:
        assert np.array_equal(other[0], squares) and np.array_equal(other[1], products)
    everything = np.cov(np.column_stack([features.astype(np.float64), target]).T, bias=True) * rows
    np.testing.assert_allclose(squares, everything[:4, :4], rtol=1e-10)
    np.testing.assert_allclose(products, everything[:4, 4], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("value", [0.1, -1.2345679e9, 3e38, 1e-45])
@pytest.mark.parametrize("rows", [1, 100_003])
def test_a_constant_column_has_no_variance_and_its_own_mean(value, rows):
    features = np.full((rows, 3), value, dtype=np.float32)
    mean, variance = mean_and_variance(features)
    assert (mean == np.float32(value)).all() and (variance == 0.0).all()
    assert (mean_and_scale(features)[1] == 1.0).all()
    largest = np.array([[3.4e38], [-3.4e38]], dtype=np.float32)
    assert np.isfinite(mean_and_variance(largest)).all()


@pytest.mark.parametrize("n_docs", [0, 2 * CACHED_ROWS + 7])
@pytest.mark.parametrize(("first", "last"), [(0, None), (2, 4)])
def test_columns_are_copied(rng: np.random.Generator, n_docs: int, first: int, last: int) -> None:
    features = rng.random((n_docs, 5)).astype(np.float32)
    columns = contiguous_columns(features, first, last)
    assert columns.dtype == np.float32 and columns.flags.c_contiguous
    np.testing.assert_array_equal(columns, features[:, first:last].T)
