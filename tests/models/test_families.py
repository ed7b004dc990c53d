"""Every parametric family: its gradient against finite differences of its model's scores."""

from types import SimpleNamespace

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.errors import UsageError
from letorbench.models.linear import BLOCK, weighted_rows
from letorbench.models.parametric import FamilySettings, families, family


def settings(**values: object) -> FamilySettings:
    known = FamilySettings(dimensions=3, query_features=2, tau=1.5)
    return SimpleNamespace(**vars(known), **{"intercept": False, "hidden": 3} | values)


CASES = [(name, settings()) for name in families()] + [("linear", settings(intercept=True))]
EVERY = pytest.mark.parametrize("name, chosen", CASES)


@EVERY
def test_the_gradient_is_the_finite_difference_and_the_scores_are_the_models(name, chosen, rng):
    train = random_queries(rng, [5, 9, 1, 7], 6)
    with unlocked(train):
        train.features[:, 4] = 3.0
    fitted = family(name).of(train, chosen)
    theta, weights = rng.normal(size=fitted.n_parameters), rng.normal(size=train.n_docs)
    gradient = fitted.gradient(theta, train.features, weights)
    assert fitted.penalised().shape == theta.shape == gradient.shape
    assert fitted.start(rng).any() == fitted.drawn and fitted.formula
    for k in range(len(theta)):
        width = 1e-6 * np.eye(len(theta))[k]
        up, down = (fitted.scores(theta + step, train.features) for step in (width, -width))
        assert gradient[k] == pytest.approx(weights @ (up - down) / 2e-6, rel=1e-5, abs=1e-6)
    scores = fitted.scores(theta, train.features)
    of_model = fitted.model(theta).predict(train.features)
    np.testing.assert_allclose(scores, of_model, rtol=1e-5, atol=1e-5)


@EVERY
def test_threads_change_nothing(name, chosen, rng, monkeypatch):
    train = random_queries(rng, [200] * 30, 6)
    fitted = family(name).of(train, chosen)
    theta, weights = rng.normal(size=fitted.n_parameters), rng.normal(size=train.n_docs)
    results = set()
    for threads in ("1", "2", "5"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        gradient = fitted.gradient(theta, train.features, weights)
        results.add(fitted.model(theta).predict(train.features).tobytes() + gradient.tobytes())
    assert len(results) == 1


def test_separate_scores_are_the_papers(rng):
    """Equations 2 and 3, with the transposes of the paper's A and B."""
    train = random_queries(rng, [9], 5)
    y, z = train.features[:, :2].astype(float), train.features[:, 2:].astype(float)
    A, B = rng.normal(size=(2, 3)), rng.normal(size=(3, 3))
    theta = np.concatenate([A.ravel(), B.ravel()])
    expected = {
        "bilinear": (1.0 / (1.0 + np.exp(-y @ A)) * (z @ B)).sum(axis=1),
        "bilinear-tanh": (np.tanh(y @ A) * (z @ B)).sum(axis=1),
        "distance": -np.square(y @ A - z @ B).sum(axis=1) / 1.5,
    }
    for name, scores in expected.items():
        of_model = family(name).of(train, settings()).model(theta).predict(train.features)
        np.testing.assert_allclose(of_model, scores, rtol=1e-12)


@pytest.mark.parametrize(
    ("name", "values", "message"),
    [
        ("cubic", {}, "unknown model 'cubic'; expected one of bilinear"),
        ("quadratic", {"intercept": True}, "the quadratic model has no intercept"),
        ("linear", {"rho": 1.0}, "found rho=1.0"),
        ("linear", {"tau": 0.0, "dimensions": 0}, "found tau=0.0, dimensions=0"),
        ("linear", {"hidden": 0}, "found hidden=0"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(name, values, message):
    chosen = FamilySettings()
    vars(chosen).update(values)
    with pytest.raises(UsageError, match=message):
        chosen.check_family(name)


def test_separate_vectors_need_two_parts(rng):
    with pytest.raises(UsageError, match="query_features=5 of 5"):
        family("bilinear").of(random_queries(rng, [4], 5), FamilySettings(query_features=5))


@pytest.mark.parametrize("rows", [0, 1, BLOCK, 9 * BLOCK + 17])
def test_weighted_rows_are_numpys_product_whatever_the_threads(rng, monkeypatch, rows):
    features = rng.normal(size=(rows, 7)).astype(np.float32)
    weights = rng.normal(size=rows) * (rng.random(rows) < 0.5)
    expected, sums = weights @ features.astype(np.float64), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        sums.append(weighted_rows(features, weights))
        assert np.array_equal(sums[0], sums[-1])
    np.testing.assert_allclose(sums[0], expected, rtol=0, atol=1e-10)
