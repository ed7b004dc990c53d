"""Every parametric family against finite differences, NumPy's formulas and their memory."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import random_queries, slopes, unlocked

from letorbench.features.columns import mean_and_scale
from letorbench.models.base import FamilySettings, families, family
from letorbench.models.functionals import QuadraticFamily
from letorbench.models.linear import BLOCK, LinearFamily, weighted_rows
from letorbench.models.mlp import MLP, Layers, _tanh, net_scores


def settings(**values: object) -> FamilySettings:
    known = FamilySettings(dimensions=3, query_features=2, tau=1.5)
    return SimpleNamespace(**vars(known) | {"intercept": False, "hidden": 3} | values)


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
    expected = slopes(lambda t: weights * fitted.scores(t, train.features), theta, 1e-6)
    assert gradient == pytest.approx(expected, rel=1e-5, abs=1e-6)
    scores = fitted.scores(theta, train.features)
    of_model = fitted.model(theta).predict(train.features)
    np.testing.assert_allclose(scores, of_model, rtol=1e-5, atol=1e-5)


def test_the_prior_leaves_what_shifts_the_scores_or_the_units_alone(rng):
    """A net's parameters are W row by row, then b, then v."""
    train = random_queries(rng, [5, 9], 6)
    for name, chosen in CASES:
        fitted = family(name).of(train, chosen)
        free = {"mlp": [3 * 6, 3 * 6 + 1, 3 * 6 + 2], "linear": [6] if chosen.intercept else []}
        expected = np.ones(fitted.n_parameters)
        expected[free.get(name, [])] = 0.0
        np.testing.assert_array_equal(fitted.penalised(), expected)
    net = family("mlp").of(train, settings())
    theta = np.zeros(net.n_parameters)
    theta[[19, 22]] = 0.5, 2.0  # the bias of the second unit, and what its value is multiplied by
    np.testing.assert_allclose(net.scores(theta, train.features), 2.0 * np.tanh(0.5))


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


def test_features_are_measured_from_their_mean_where_a_constant_is_free(rng):
    X = rng.normal(1e3, 1e2, (50, 3)).astype(np.float32)
    for free in ({}, {"intercept": True}, {"shift_invariant": True}):
        made, wide = LinearFamily.conditioned(X, **free), X.astype(np.float64)
        assert made.mean.any() == bool(free)
        # four standard deviations, or four times the size where it is measured from 0
        size = wide.std(axis=0) if free else np.sqrt((wide**2).mean(axis=0))
        np.testing.assert_allclose(made.scale, 4.0 * size, rtol=1e-12)
    queries = random_queries(rng, [50])
    x = queries.features.astype(float)
    for standardise, units in ((True, (x.mean(axis=0), x.std(axis=0))), (False, ([0.0], [1.0]))):
        made = LinearFamily.of(queries, settings(standardise=standardise, intercept=True))
        assert made.intercept
        assert np.allclose((made.mean, made.scale), np.broadcast_to(units, (2, 5)))


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


@pytest.mark.parametrize("rows", [0, 1, BLOCK, 9 * BLOCK + 17])
def test_weighted_rows_are_numpys_product_whatever_the_threads(rng, monkeypatch, rows):
    features = rng.normal(size=(rows, 7)).astype(np.float32)
    features.flags.writeable = False
    weights = rng.normal(size=rows) * (rng.random(rows) < 0.5)
    expected, sums = weights @ features.astype(np.float64), []
    for threads in ("1", "2", "3"):
        monkeypatch.setenv("LETORBENCH_THREADS", threads)
        sums.append(weighted_rows(features, weights))
        assert np.array_equal(sums[0], sums[-1])
    np.testing.assert_allclose(sums[0], expected, rtol=0, atol=1e-10)


def test_tanh_is_numpys():
    x = np.concatenate([np.linspace(-30, 30, 10_001), [-np.inf, 1e30, 0.0, 1e-9, np.nan]])
    y = x.astype(np.float32) - np.float32(0.5)
    expected = np.tanh(y + np.float32(0.5))
    _tanh(0.5, y)
    np.testing.assert_allclose(y, expected, rtol=8 * np.finfo(np.float32).eps)


@pytest.mark.parametrize("n_docs", [0, 1, 1001, 9_001])
def test_the_score_is_the_formula_of_the_document_alone(monkeypatch, rng, n_docs):
    W, b, v = rng.normal(size=(10, 46)).astype(np.float32), *rng.normal(size=(2, 10))
    net, features = MLP(W, b, v), rng.random((n_docs, 46), np.float32)
    whole = net.predict(features)
    expected = net_scores(features, Layers(net.weights, net.bias, net.output))
    np.testing.assert_allclose(whole, expected, atol=1e-4)
    monkeypatch.setenv("LETORBENCH_THREADS", "1")
    assert np.array_equal(net.predict(np.ascontiguousarray(features[::-1]))[::-1], whole)


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.9])
def test_scores_are_the_formula(rho, rng):
    train = random_queries(rng, [20] * 10 + [7], 6, levels=3)
    family = QuadraticFamily.of(train, FamilySettings(rho=rho))
    mean, scale = mean_and_scale(train.features)
    x = (train.features - mean) / scale
    products = np.stack([x[:, k] * x[:, j] for k in range(6) for j in range(k, 6)], axis=1)
    r = np.abs([np.corrcoef(column, train.labels)[0, 1] for column in products.T])
    kept = np.flatnonzero(r >= rho)
    assert len(family.products.second) == len(kept)
    theta = rng.normal(size=family.n_parameters)
    expected = x @ theta[:6] + products[:, kept] @ theta[6:]
    np.testing.assert_allclose(family.model(theta).predict(train.features), expected, 1e-9)


def test_the_products_are_never_written_down(rng):
    """Selection, scores and gradient of 120 features: their 7,260 products would take 340 MB."""
    train = random_queries(rng, [100] * 60, 120)
    tracemalloc.start()
    family = QuadraticFamily.of(train, FamilySettings(rho=0.0))
    theta = rng.normal(size=family.n_parameters)
    scores = family.model(theta).predict(train.features)
    family.gradient(theta, train.features, scores)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert len(family.products.second) == 7_260
    assert peak < 30e6
