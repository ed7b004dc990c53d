"""The quadratic programme against its optimality conditions."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.simplex_qp import maximise


@pytest.mark.parametrize("n, rank", [(1, 1), (2, 2), (10, 20), (40, 5), (80, 45)])
@pytest.mark.parametrize("total", [1e-2, 1.0, 1e4])
def test_no_direction_improves(rng: np.random.Generator, n: int, rank: int, total: float) -> None:
    slopes = rng.normal(size=(n, rank))
    heights = rng.normal(size=n)
    start = np.zeros(n)
    start[0] = total
    alpha = maximise(slopes @ slopes.T, heights, start)
    assert alpha.min() >= 0.0 and alpha.sum() == pytest.approx(total)
    # for a concave function over the simplex: value(best) - value <= max slope - mean slope
    slope = heights - slopes @ (slopes.T @ alpha)
    scale = total * (np.abs(heights).max() + np.abs(slopes @ (slopes.T @ alpha)).max())
    assert total * slope.max() - alpha @ slope <= 1e-9 * scale


def test_warm_start_and_duplicate_planes(rng: np.random.Generator) -> None:
    slopes = np.repeat(rng.normal(size=(6, 3)), 3, axis=0)
    heights = np.repeat(rng.normal(size=6), 3)
    gram = slopes @ slopes.T
    cold = maximise(gram, heights, np.eye(18)[0])
    warm = maximise(gram, heights, np.full(18, 1.0 / 18))

    def value(alpha: np.ndarray) -> float:
        return float(alpha @ heights - alpha @ gram @ alpha / 2)

    assert value(warm) == pytest.approx(value(cold), rel=1e-9)
