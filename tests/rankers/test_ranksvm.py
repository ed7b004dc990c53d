"""RankSVM against SciPy on the explicit pairs; see also `tests/solvers/test_raw_features.py`."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked
from scipy.optimize import minimize

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.rankers.ranksvm import MarginPairs, RankSVM, objective, pair_differences


def optimum(D: np.ndarray, c: np.ndarray, C: float, loss: str) -> float:
    """The least objective, by L-BFGS-B on the dual's box (the hinge) or on the primal."""

    def primal(w: np.ndarray) -> tuple[float, np.ndarray]:
        t = np.maximum(0.0, 1.0 - D @ w)
        return w @ w / 2 + C * (c * t) @ t, w - 2.0 * C * D.T @ (c * t)

    def dual(a: np.ndarray) -> tuple[float, np.ndarray]:
        return (D.T @ a) @ (D.T @ a) / 2 - a.sum(), D @ (D.T @ a) - 1.0

    smooth = loss == "squared-hinge"
    end = minimize(
        primal if smooth else dual,
        np.zeros(D.shape[1] if smooth else len(c)),
        jac=True,
        bounds=None if smooth else [(0.0, C * weight) for weight in c],
        method="L-BFGS-B",
        options={"ftol": 1e-16, "gtol": 1e-12, "maxiter": 50_000, "maxfun": 10**6},
    )
    return end.fun if smooth else -end.fun


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    """Ties, one document, no document, one label, three labels, a little signal."""
    made = random_queries(rng, [12, 1, 9, 0, 6, 15], n_features=4, levels=3)
    with unlocked(made):
        made.labels[22:28] = 1
        made.features[:] = np.round(made.features + 0.4 * made.labels[:, None], 1)
        made.features[3] = made.features[4]
    return made


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_objective_is_the_reference_optimum(queries, loss, normalise, C):
    D, c = pair_differences(queries, normalise)
    ranker = RankSVM(C=C, loss=loss, normalise=normalise).fit_sets(queries)
    mine = objective(ranker.learned.model.weights, queries, ranker)
    assert mine == pytest.approx(optimum(D, c, C, loss), rel=1e-6)
    assert ranker.learned.objective[-1] == pytest.approx(mine, rel=1e-9)
    assert ranker.learned.warnings == ()


@pytest.mark.parametrize("normalise", [True, False])
def test_gradient_and_hessian(queries, rng, normalise):
    pairs, C = MarginPairs(queries, normalise), 0.7
    pairs.least = 1  # a thread for every query
    D, c = pair_differences(queries, normalise)
    w, d = rng.normal(size=(2, 4))
    here, t = pairs.squared_hinge(w, C), np.maximum(0.0, 1.0 - D @ w)
    assert here.value == pytest.approx(w @ w / 2 + C * (c * t) @ t, rel=1e-12)
    np.testing.assert_allclose(here.gradient, w - 2.0 * C * D.T @ (c * t), rtol=1e-9)
    active = c * (D @ w < 1.0)
    np.testing.assert_allclose(
        here.hessian_times(d), d + 2.0 * C * D.T @ (active * (D @ d)), rtol=1e-9
    )
    risk, slope = pairs.hinge(w)
    assert risk == pytest.approx(c @ t, rel=1e-9)
    np.testing.assert_allclose(slope, -D.T @ active, rtol=1e-9)


def test_no_pairs_and_wrong_settings(rng):
    made = random_queries(rng, [1, 4, 3], levels=1)
    for loss in ("squared-hinge", "hinge"):
        learned = RankSVM(loss=loss).fit_sets(made).learned
        assert not learned.model.weights.any()
        assert [each.kind for each in learned.warnings] == ["nothing learned"]
    for wrong in ({"loss": "log"}, {"C": 0.0}, {"gap": -1.0}):
        with pytest.raises(UsageError, match=f"found {next(iter(wrong))}="):
            RankSVM(**wrong).fit_sets(made)
