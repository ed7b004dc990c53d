"""Regression on many and on few documents: both systems have the one solution."""

import numpy as np
import pytest

import letorbench as lb


@pytest.mark.parametrize("l2", [0.0, 0.5, 30.0])
@pytest.mark.parametrize(("n", "width"), [(30, 31), (31, 30), (12, 60), (3, 200)])
def test_the_smaller_system_has_the_solution(l2: float, n: int, width: int, rng) -> None:
    X = (rng.normal(size=(n, width)) * rng.uniform(0.1, 10, width)).astype(np.float32)
    X[:, 3], X[:, 5] = 2, X[:, 4]
    y = np.arange(n) % 3
    model = lb.Regression(l2=l2).fit(X, y, group=[n]).learned.model
    x = X.astype(np.float64) - X.astype(np.float64).mean(axis=0)
    scale = np.sqrt((x**2).sum(axis=0)) if l2 == 0 else np.ones(width)
    scale[scale == 0] = 1
    rows = np.vstack([x / scale, np.sqrt(l2) * np.eye(width)])
    w = np.linalg.lstsq(rows, np.append(y - y.mean(), np.zeros(width)), rcond=1e-6)[0] / scale
    np.testing.assert_allclose(model.weights, w, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(model.predict(X), x @ w + y.mean(), rtol=1e-6, atol=1e-8)


def test_wide_data_take_no_square_of_their_features(rng: np.random.Generator) -> None:
    X = rng.random((36, 65_536), dtype=np.float32)  # the square would take 34 GB
    y = np.arange(36) % 3
    assert np.allclose(lb.Regression().fit(X, y, group=[36]).predict(X), y)
