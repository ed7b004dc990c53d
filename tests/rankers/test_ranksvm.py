"""RankSVM against scipy on the explicit pairs."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.fit_warnings import FitWarning
from letorbench.rankers import ranksvm
from letorbench.rankers.ranksvm import MarginPairs, RankSVM, objective, pair_differences


def optimum(D: np.ndarray, c: np.ndarray, C: float, loss: str) -> float:
    """The least objective, by L-BFGS-B on the dual's box (the hinge) or on the primal."""
    from scipy.optimize import minimize

    options = {"ftol": 1e-16, "gtol": 1e-12, "maxiter": 50_000, "maxfun": 10**6}
    if loss == "squared-hinge":

        def primal(w: np.ndarray) -> tuple[float, np.ndarray]:
            t = np.maximum(0.0, 1.0 - D @ w)
            return w @ w / 2 + C * (c * t) @ t, w - 2.0 * C * D.T @ (c * t)

        return minimize(
            primal, np.zeros(D.shape[1]), jac=True, method="L-BFGS-B", options=options
        ).fun
    return -minimize(
        lambda a: ((D.T @ a) @ (D.T @ a) / 2 - a.sum(), D @ (D.T @ a) - 1.0),
        np.zeros(len(c)),
        jac=True,
        bounds=[(0.0, C * weight) for weight in c],
        method="L-BFGS-B",
        options=options,
    ).fun


@pytest.fixture
def queries(rng: np.random.Generator) -> QuerySet:
    """Ties, one document, no document, one label, three labels, a little signal."""
    made = random_queries(rng, [12, 1, 9, 0, 6, 15], n_features=4, levels=3)
    with unlocked(made):
        made.labels[22:28] = 1
    features = np.round(made.features + 0.4 * made.labels[:, None], 1).astype(np.float32)
    features[3] = features[4]
    return QuerySet(features, made.labels, made.offsets, made.qids)


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("normalise", [True, False])
@pytest.mark.parametrize("C", [0.01, 1.0, 30.0])
def test_objective_is_the_reference_optimum(
    queries: QuerySet, loss: str, normalise: bool, C: float
) -> None:
    D, c = pair_differences(queries, normalise)
    ranker = RankSVM(C=C, loss=loss, normalise=normalise).fit_sets(queries)
    mine = objective(ranker.learned.model.weights, queries, ranker)
    best = optimum(D, c, C, loss)
    assert mine == pytest.approx(best, rel=1e-6)
    assert ranker.learned.objective[-1] == pytest.approx(mine, rel=1e-9)
    assert ranker.learned.warnings == ()


@pytest.mark.parametrize("normalise", [True, False])
def test_start_from_a_part_ends_at_the_optimum(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, normalise: bool
) -> None:
    """More documents than `thinned` keeps: fewer steps over all of them, the same minimum."""
    queries = random_queries(rng, [900, 1, 700], n_features=4, levels=3)
    with unlocked(queries):
        queries.features[:] += 0.1 * queries.labels[:, None].astype(np.float32)
    setting = {"C": 3.0 if normalise else 1e-4, "normalise": normalise, "gap": 1e-9}
    from_zero = RankSVM(**setting).fit_sets(queries).learned
    monkeypatch.setattr(ranksvm, "MANY_DOCS", 0)
    from_a_part = RankSVM(**setting).fit_sets(queries).learned
    assert from_a_part.objective[0] < 0.5 * (from_zero.objective[0] + from_zero.objective[-1])
    assert from_a_part.objective[-1] == pytest.approx(from_zero.objective[-1], rel=1e-9)
    w, v = from_a_part.model.weights, from_zero.model.weights
    assert np.allclose(w, v, rtol=0, atol=1e-4 * np.linalg.norm(v))


@pytest.mark.parametrize("normalise", [True, False])
def test_gradient_and_hessian(queries: QuerySet, rng: np.random.Generator, normalise: bool) -> None:
    pairs, C = MarginPairs(queries, normalise), 0.7
    D, c = pair_differences(queries, normalise)
    w, d = rng.normal(size=4), rng.normal(size=4)
    here = pairs.squared_hinge(w, C)
    reference = objective(w, queries, RankSVM(C=C, normalise=normalise))
    assert here.value == pytest.approx(reference, rel=1e-9)
    t = np.maximum(0.0, 1.0 - D @ w)
    assert reference == pytest.approx(w @ w / 2 + C * (c * t) @ t, rel=1e-12)
    for k in range(4):
        step = 1e-5 * np.eye(4)[k]
        up, down = pairs.squared_hinge(w + step, C), pairs.squared_hinge(w - step, C)
        assert here.gradient[k] == pytest.approx((up.value - down.value) / 2e-5, rel=1e-4)
    active = c * (D @ w < 1.0)
    assert np.allclose(here.hessian_times(d), d + 2 * C * D.T @ (active * (D @ d)), rtol=1e-9)
    risk, slope = pairs.hinge(w)
    assert risk == pytest.approx(c @ np.maximum(0.0, 1.0 - D @ w), rel=1e-9)
    assert np.allclose(slope, -D.T @ active, rtol=1e-9)


@pytest.mark.parametrize("loss", ["squared-hinge", "hinge"])
@pytest.mark.parametrize("levels", [4, 20])
def test_threads_change_nothing(
    rng: np.random.Generator, monkeypatch: pytest.MonkeyPatch, loss: str, levels: int
) -> None:
    made = random_queries(rng, [40, 3, 1500, 2000, 1, 2500, 700], n_features=6, levels=levels)
    weights = []
    for threads in ("1", "2"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        weights.append(RankSVM(loss=loss, gap=1e-3).fit_sets(made).learned.model.weights)
    assert weights[0].any() and np.array_equal(*weights)


def test_no_pairs_is_said(rng: np.random.Generator) -> None:
    made = random_queries(rng, [1, 4, 3], levels=1)
    for loss in ("squared-hinge", "hinge"):
        learned = RankSVM(loss=loss).fit_sets(made).learned
        assert not learned.model.weights.any()
        assert learned.warnings == (
            FitWarning("nothing learned", "no query has two different labels: all scores are 0"),
        )


@pytest.mark.parametrize("wrong", [{"loss": "log"}, {"C": 0.0}, {"gap": -1.0}])
def test_wrong_settings(queries: QuerySet, wrong: dict[str, object]) -> None:
    with pytest.raises(UsageError):
        RankSVM(**wrong).fit_sets(queries)
