"""RankNet's loss: the formula against finite differences, the kernel against the formula."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.losses import loss
from letorbench.losses.pairwise_logistic import pairwise_logistic


def test_the_gradient_is_the_finite_difference(rng):
    scores, labels = rng.normal(size=9), rng.integers(0, 3, 9)
    gradient = pairwise_logistic(scores, labels)[1]
    for k in range(9):
        step = 1e-6 * np.eye(9)[k]
        sides = [pairwise_logistic(scores + sign * step, labels)[0] for sign in (1, -1)]
        assert gradient[k] == pytest.approx((sides[0] - sides[1]) / 2e-6, abs=1e-7)


@pytest.mark.parametrize("spread", [0.0, 1.0, 10.0, 200.0])
@pytest.mark.parametrize("levels", [1, 2, 5])
def test_the_kernel_is_the_formula(spread, levels, rng):
    """Scores all equal, near, and too far apart for shared exponentials."""
    queries = random_queries(rng, [1, 9, 0, 17, 40, 2], levels=levels)
    scores = spread * rng.normal(size=queries.n_docs)
    value, gradient = loss("ranknet")(scores, queries)
    for q in range(queries.n_queries):
        rows = slice(queries.offsets[q], queries.offsets[q + 1])
        cost, slope = pairwise_logistic(scores[rows], queries.labels[rows])
        assert value[q] == pytest.approx(cost, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(gradient[rows], slope, rtol=1e-10, atol=1e-12)
        assert abs(gradient[rows].sum()) < 1e-9
