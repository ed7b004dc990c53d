"""Every parametric family: its gradient against finite differences of its model's scores."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.models import LinearFamily, ParametricFamily, QuadraticFamily, SeparateFamily
from letorbench.models.families import FAMILIES, FORMULAS, FamilyChoice


def linear(train: QuerySet) -> ParametricFamily:
    return LinearFamily.standardised(train.features)


def with_intercept(train: QuerySet) -> ParametricFamily:
    return LinearFamily.standardised(train.features, intercept=True)


def quadratic(train: QuerySet) -> ParametricFamily:
    return QuadraticFamily.of(train, 0.1)


def every_product(train: QuerySet) -> ParametricFamily:
    return QuadraticFamily.of(train, 0.0)


def bilinear(train: QuerySet) -> ParametricFamily:
    return SeparateFamily(2, 4, 3, 0.0)


def bilinear_tanh(train: QuerySet) -> ParametricFamily:
    return SeparateFamily(2, 4, 3, 0.0, tanh=True)


def distance(train: QuerySet) -> ParametricFamily:
    return SeparateFamily(4, 2, 3, 1.5)


def net(train: QuerySet) -> ParametricFamily:
    return FamilyChoice("mlp", hidden=3).on(train)


#: makers of each family from a training set; a family without an entry fails its test
MAKERS = {
    "LinearFamily": [linear, with_intercept],
    "MLPFamily": [net],
    "QuadraticFamily": [quadratic, every_product],
    "SeparateFamily": [bilinear, bilinear_tanh, distance],
}


def subclasses(cls: type) -> set[type]:
    return {sub for child in cls.__subclasses__() for sub in (child, *subclasses(child))}


EVERY = pytest.mark.parametrize(
    "cls", sorted(subclasses(ParametricFamily), key=lambda cls: cls.__name__)
)


@EVERY
def test_the_gradient_is_the_finite_difference(cls, rng):
    train = random_queries(rng, [5, 9, 1, 7], 6)
    with unlocked(train):
        train.features[:, 4] = 3.0
    for maker in MAKERS[cls.__name__]:
        family = maker(train)
        assert type(family) is cls
        theta = rng.normal(size=family.n_parameters)
        weights = rng.normal(size=train.n_docs)
        found = family.gradient(theta, train.features, weights)
        assert family.penalised().shape == theta.shape == found.shape
        assert family.start(rng).shape == theta.shape
        for k in range(len(theta)):
            width = 1e-6
            up, down = theta.copy(), theta.copy()
            up[k] += width
            down[k] -= width
            rise = family.scores(up, train.features) - family.scores(down, train.features)
            assert found[k] == pytest.approx(weights @ rise / (2 * width), rel=1e-5, abs=1e-6)


@EVERY
def test_the_scores_are_the_models(cls, rng):
    train = random_queries(rng, [5, 9], 6)
    for maker in MAKERS[cls.__name__]:
        family = maker(train)
        theta = rng.normal(size=family.n_parameters)
        np.testing.assert_allclose(
            family.scores(theta, train.features),
            family.model(theta).predict(train.features),
            rtol=1e-5,
            atol=1e-5,
        )


@EVERY
def test_threads_change_nothing(cls, rng, monkeypatch):
    train = random_queries(rng, [200] * 30, 6)
    for maker in MAKERS[cls.__name__]:
        family = maker(train)
        theta, weights = rng.normal(size=family.n_parameters), rng.normal(size=train.n_docs)
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            gradient = family.gradient(theta, train.features, weights)
            found.append((family.model(theta).predict(train.features), gradient))
        for scores, gradient in found[1:]:
            np.testing.assert_array_equal(scores, found[0][0])
            np.testing.assert_array_equal(gradient, found[0][1])


@pytest.mark.parametrize("name", FAMILIES)
def test_every_name_has_a_formula_and_a_family(name, rng):
    train = random_queries(rng, [8] * 5, 6)
    family = FamilyChoice(name).on(train)
    scores = family.model(family.start(rng)).predict(train.features)
    assert FORMULAS[name] and scores.shape == (train.n_docs,)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"name": "cubic"}, "unknown model 'cubic'; expected one of linear, quadratic"),
        ({"name": "quadratic", "intercept": True}, "the quadratic model has no intercept"),
        ({"rho": 1.0}, "found rho=1.0"),
        ({"tau": 0.0}, "found tau=0.0"),
        ({"dimensions": 0}, "dimensions=0"),
        ({"hidden": 0}, "found hidden=0"),
    ],
)
def test_a_wrong_setting_is_one_clear_line(settings, message):
    with pytest.raises(UsageError, match=message):
        FamilyChoice(**settings)


def test_separate_vectors_need_two_parts(rng):
    with pytest.raises(UsageError, match="query_features=5 of 5"):
        FamilyChoice("bilinear", query_features=5).on(random_queries(rng, [4], 5))
