"""Every transformation against its definition and what all must keep; moments against NumPy's."""

from collections.abc import Iterator

import numpy as np
import pytest

from letorbench.datasets.queryset import QuerySet
from letorbench.features import TRANSFORMATIONS, ZScore, transformation
from letorbench.features.columns import (
    CACHED_ROWS,
    PARTS,
    centred_products,
    mean_and_scale,
    mean_and_variance,
)

LARGEST = float(np.finfo(np.float32).max)
NAMES = list(TRANSFORMATIONS)

#: those that `brute` defines; another one has a test of its own
DEFINED = ["raw", "query-minmax", "query-zscore", "zscore", "signed-log", "rank"]

EXTREMES = [0.0, 1.0, -1.0, 0.5, 1e9, 3e9, -1e12, LARGEST, -LARGEST, 1e-45, 1e-30]


def query_sets() -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Draw features with ties, extremes and constant columns, and the queries' bounds."""
    rng = np.random.default_rng(7)
    for _ in range(60):
        lengths = rng.integers(1, 7, rng.integers(1, 6))
        shape = (lengths.sum(), rng.integers(1, 5))
        bits = rng.integers(0, 2**32, shape, dtype=np.uint32).view(np.float32)
        kinds = [np.where(np.isfinite(bits), bits, 0.0), rng.choice(EXTREMES, shape),
                 np.round(rng.normal(size=shape), 1)]  # fmt: skip
        X = np.choose(rng.integers(0, 3, shape), kinds).astype(np.float32)
        if rng.random() < 0.5:
            X[:, 0] = X[0, 0]
        X.flags.writeable = False
        yield X, np.append(0, np.cumsum(lengths)).astype(np.int64)


def brute(name: str, X: np.ndarray, offsets: np.ndarray, seen: np.ndarray) -> np.ndarray:
    """The definitions, a number at a time, in exact or long double arithmetic.

    `seen` are the features that the transformation was fitted on.
    """
    x = X.astype(np.longdouble)
    new = np.zeros_like(x)
    rows = list(zip(offsets[:-1], offsets[1:], strict=True))
    for k in range(x.shape[1]):
        by_query = name in ("query-minmax", "query-zscore", "rank")
        for a, b in rows if by_query else [(0, len(x))]:
            column = x[a:b, k] if by_query else seen[:, k].astype(np.longdouble)
            for i in range(a, b):
                new[i, k] = _value(name, x[i, k], column)
    return new


def _value(name: str, value: np.longdouble, column: np.ndarray) -> np.longdouble:
    if name == "raw":
        return value
    if name == "signed-log":
        return np.sign(value) * np.log(1 + np.abs(value)) if abs(value) > 1e-6 else value
    if column.min() == column.max():
        return np.longdouble(0)
    if name == "query-minmax":
        return (value - column.min()) / (column.max() - column.min())
    if name == "rank":
        below, equal = (column < value).sum(), (column == value).sum()
        return np.longdouble(below + (equal - 1) / 2) / (len(column) - 1)
    mean = column.sum() / len(column)
    return (value - mean) / np.sqrt(((column - mean) ** 2).sum() / len(column))


@pytest.mark.parametrize("name", DEFINED)
def test_is_what_its_definition_says(name):
    for X, offsets in query_sets():
        before = X.copy()
        for seen in (X, X[: (len(X) + 1) // 2]):
            new = transformation(name).fit(seen).transform(X, offsets)
            assert new.dtype == np.float32 and new.flags.c_contiguous and np.isfinite(new).all()
            expected = np.clip(brute(name, X, offsets, seen), -LARGEST, LARGEST)
            np.testing.assert_allclose(new, expected, rtol=2e-6, atol=2e-6)
        np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", NAMES)
def test_missing_values_stay_missing_and_the_others_are_what_they_are_without_them(name):
    """Each feature is transformed as if only the documents that have it were there."""
    rng = np.random.default_rng(0)
    for X, offsets in query_sets():
        holed = np.where(rng.random(X.shape) < 0.3, np.float32(np.nan), X)
        holed[:, -1] = X[:, -1]
        holed[offsets[0] : offsets[1], 0] = np.nan
        new = transformation(name).fit(holed).transform(holed, offsets)
        for k in range(X.shape[1]):
            there = ~np.isnan(holed[:, k])
            assert np.isnan(new[~there, k]).all()
            alone, kept = holed[there, k : k + 1], np.append(0, np.cumsum(there))[offsets]
            expected = transformation(name).fit(alone).transform(alone, kept)
            np.testing.assert_array_equal(new[there, k], expected[:, 0])


@pytest.mark.parametrize("name", NAMES)
def test_blocks_and_threads_change_nothing(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 5.0, (997, 7)).astype(np.float32)
    offsets = np.array([0, 1, 1, 40, 41, 600, 997])
    fitted = transformation(name).fit(X)
    expected = fitted.transform(X, offsets)
    for cells, threads in ((1, "1"), (64, "3"), (1 << 19, "2")):
        monkeypatch.setattr("letorbench.features.CELLS", cells)
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        found = fitted.transform(X, offsets)
        np.testing.assert_array_equal(found, expected)


def test_a_query_set_is_transformed_whole():
    queries = QuerySet.from_arrays([[2.0], [5.0], [9.0], [9.0]], [0, 1, 0, 2], qid=[3, 3, 3, 4])
    new = transformation("query-minmax")()(queries)
    np.testing.assert_allclose(new.features[:, 0], [0.0, 3 / 7, 1.0, 0.0], rtol=1e-6)
    assert new.labels is queries.labels and new.qids is queries.qids
    assert transformation("raw")()(queries) is queries


def test_moments_are_numpys_and_what_is_far_stays_finite(rng):
    features = rng.random((1_000, 4), dtype=np.float32)
    wide = features.astype(np.float64)
    for found, expected in (
        (mean_and_variance, wide.var(axis=0)),
        (mean_and_scale, wide.std(axis=0)),
    ):
        np.testing.assert_allclose(found(features), [wide.mean(axis=0), expected], rtol=1e-12)
    far = ZScore(np.zeros(1), np.array([1e-30])).transform(np.array([[LARGEST]], np.float32))
    assert far == np.float32(LARGEST)  # the largest that is finite


@pytest.mark.parametrize("rows", [300, CACHED_ROWS * (PARTS + 2) + 7])
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
    weights, x = rng.integers(0, 4, rows).astype(float), features - mean
    squares, products = centred_products(features, mean, target, weights)
    np.testing.assert_allclose(squares, (weights[:, None] * x).T @ x, rtol=1e-10)
    np.testing.assert_allclose(products, (weights * target) @ x, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("value", [0.1, -1.2345679e9, 3e38, 1e-45])
@pytest.mark.parametrize("rows", [1, 100_003])
def test_a_constant_column_has_no_variance_and_its_own_mean(value, rows):
    features = np.full((rows, 3), value, dtype=np.float32)
    mean, variance = mean_and_variance(features)
    assert (mean == np.float32(value)).all() and (variance == 0.0).all()
    assert (mean_and_scale(features)[1] == 1.0).all()
    largest = np.array([[3.4e38], [-3.4e38]], dtype=np.float32)
    assert np.isfinite(mean_and_variance(largest)).all()
