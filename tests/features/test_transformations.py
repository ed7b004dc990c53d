"""Every transformation against plain NumPy and brute force, and what all of them must keep."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from letorbench.errors import DataError, UsageError
from letorbench.features import (
    TRANSFORMATIONS,
    stored,
    transformation,
    transformations,
)

LARGEST = float(np.finfo(np.float32).max)
NAMES = list(TRANSFORMATIONS)

values = st.one_of(
    st.sampled_from([0.0, 1.0, -1.0, 0.5, 1e9, 3e9, -1e12, LARGEST, -LARGEST, 1e-45, 1e-30]),
    st.floats(-LARGEST, LARGEST, width=32),
)


@st.composite
def query_sets(draw) -> tuple[np.ndarray, np.ndarray]:
    """Features with ties, extremes and constant columns, and the queries' bounds."""
    lengths = draw(st.lists(st.integers(1, 6), min_size=1, max_size=5))
    shape = (sum(lengths), draw(st.integers(1, 4)))
    X = draw(arrays_of.arrays(np.float32, shape, elements=values))
    if draw(st.booleans()):
        X[:, 0] = X[0, 0]
    return X, np.append(0, np.cumsum(lengths)).astype(np.int64)


def brute(name: str, X: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """The definitions, a number at a time, in exact or long double arithmetic."""
    x = X.astype(np.longdouble)
    new = np.zeros_like(x)
    rows = list(zip(offsets[:-1], offsets[1:], strict=True))
    for k in range(x.shape[1]):
        for a, b in rows if name in ("query-minmax", "query-zscore", "rank") else [(0, len(x))]:
            column = x[a:b, k]
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


@pytest.mark.parametrize("name", NAMES)
@given(query_sets())
@settings(deadline=None, max_examples=150)
def test_is_what_its_definition_says(name, drawn):
    X, offsets = drawn
    before = X.copy()
    new = transformation(name).fit(X).transform(X, offsets)
    assert new.dtype == np.float32 and new.flags.c_contiguous and np.isfinite(new).all()
    np.testing.assert_allclose(new, brute(name, X, offsets), rtol=2e-6, atol=2e-6)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("name", NAMES)
def test_blocks_and_threads_change_nothing(name, monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.lognormal(0.0, 5.0, (997, 7)).astype(np.float32)
    offsets = np.array([0, 1, 1, 40, 41, 600, 997])
    fitted = transformation(name).fit(X)
    expected = fitted.transform(X, offsets)
    for cells, threads in ((1, "1"), (64, "3"), (1 << 19, "2")):
        monkeypatch.setattr(transformations, "CELLS", cells)
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        found = fitted.transform(X, offsets)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("name", NAMES)
def test_nothing_and_single_documents_are_transformed(name):
    none = np.zeros((0, 3), dtype=np.float32)
    assert transformation(name).fit(none).transform(none, np.array([0])).shape == (0, 3)
    one = np.array([[3.0, -1e30, 0.0]], dtype=np.float32)
    new = transformation(name).fit(one).transform(one, np.array([0, 1]))
    if name not in ("raw", "signed-log"):
        np.testing.assert_array_equal(new, np.zeros((1, 3)))


@pytest.mark.parametrize("name", NAMES)
def test_a_fitted_transformation_is_stored_to_the_last_bit(name):
    rng = np.random.default_rng(1)
    X = rng.normal(1e9, 1e3, (50, 4)).astype(np.float32)
    fitted = transformation(name).fit(X)
    again = stored(json.loads(json.dumps(fitted.as_json())), 4)
    offsets = np.array([0, 20, 50])
    np.testing.assert_array_equal(again.transform(X, offsets), fitted.transform(X, offsets))


@pytest.mark.parametrize(
    "facts, message",
    [
        (None, "found the feature transformation None"),
        ({"name": "minmax"}, "found the feature transformation 'minmax'"),
        ({"name": "raw", "mean": [0.0]}, "found name, mean in the transformation raw"),
        ({"name": "zscore", "mean": [0.0]}, "expected name, mean, scale"),
        ({"name": "zscore", "mean": [0.0] * 3, "scale": [1.0]}, "expected 2"),
        ({"name": "zscore", "mean": [0.0] * 2, "scale": [1.0, "x"]}, "zscore: scale: expected"),
        ({"name": "zscore", "mean": [[0.0] * 2], "scale": [1.0] * 2}, "zscore: mean: expected"),
        ({"name": "zscore", "mean": [float("nan")] * 2, "scale": [1.0] * 2}, "zscore: mean"),
        ({"name": "zscore", "mean": [0.0] * 2, "scale": [-1.0, 1.0]}, "found -1, expected 0"),
    ],
)
def test_other_facts_are_refused(facts, message):
    with pytest.raises(DataError, match=message):
        stored(facts, 2)


def test_values_far_from_all_that_was_seen_stay_finite():
    X = np.array([[1.0, 7.0], [1.0000001, 7.0]], dtype=np.float32)
    far = np.array([[LARGEST, 1e9], [-LARGEST, -1e9]], dtype=np.float32)
    new = transformation("zscore").fit(X).transform(far)
    assert np.isfinite(new).all() and new[0, 0] > 1e38 > -1e38 > new[1, 0]
    np.testing.assert_array_equal(new[:, 1], [0.0, 0.0])


def test_a_large_constant_is_no_rounding_noise():
    X = np.full((100_003, 2), 1.2345679e9, dtype=np.float32)
    X[:, 1] += np.arange(len(X)) % 2 * 128.0  # the last bit but one
    for name in ("zscore", "query-zscore", "query-minmax", "rank"):
        new = transformation(name).fit(X).transform(X, np.array([0, len(X)]))
        assert (new[:, 0] == 0.0).all()
        assert len(np.unique(new[:, 1])) == 2


def test_queries_are_needed_where_they_matter():
    X = np.ones((4, 2), dtype=np.float32)
    for name, cls in TRANSFORMATIONS.items():
        if cls.by_query:
            with pytest.raises(UsageError, match=f"{name}: found no queries"):
                cls.fit(X).transform(X)
        else:
            assert cls.fit(X).transform(X).shape == X.shape
