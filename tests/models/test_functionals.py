"""Every functional: its pull-back against finite differences of its scorer."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import random_queries

from letorbench.datasets.queryset import QuerySet
from letorbench.models.functional import Functional
from letorbench.models.linear_functional import LinearFunctional, moments
from letorbench.models.quadratic_functional import QuadraticFunctional
from letorbench.models.separate_functional import SeparateFunctional


def linear(train: QuerySet) -> Functional:
    return LinearFunctional(*moments(train.features))


def with_intercept(train: QuerySet) -> Functional:
    return LinearFunctional(*moments(train.features), intercept=True)


def quadratic(train: QuerySet) -> Functional:
    return QuadraticFunctional.of(train, 0.1)


def every_product(train: QuerySet) -> Functional:
    return QuadraticFunctional.of(train, 0.0)


def bilinear(train: QuerySet) -> Functional:
    return SeparateFunctional(2, 4, 3, 0.0)


def distance(train: QuerySet) -> Functional:
    return SeparateFunctional(4, 2, 3, 1.5)


#: a maker of each functional from a training set; one without an entry fails its test
MAKERS = {
    "LinearFunctional": [linear, with_intercept],
    "QuadraticFunctional": [quadratic, every_product],
    "SeparateFunctional": [bilinear, distance],
}


def subclasses(cls: type) -> set[type]:
    return {sub for child in cls.__subclasses__() for sub in (child, *subclasses(child))}


@pytest.mark.parametrize("cls", sorted(subclasses(Functional), key=lambda cls: cls.__name__))
def test_pull_back_is_the_finite_difference(cls, rng):
    train = random_queries(rng, [5, 9, 1, 7], 6)
    train.features[:, 4] = 3.0
    for maker in MAKERS[cls.__name__]:
        functional = maker(train)
        assert type(functional) is cls
        theta = rng.normal(size=functional.n_parameters)
        weights = rng.normal(size=train.n_docs)
        found = functional.pull_back(theta, train.features, weights)
        assert functional.penalised().shape == theta.shape == found.shape
        for k in range(len(theta)):
            width = 1e-6
            up, down = theta.copy(), theta.copy()
            up[k] += width
            down[k] -= width
            rise = functional.model(up).predict(train.features)
            rise = rise - functional.model(down).predict(train.features)
            assert found[k] == pytest.approx(weights @ rise / (2 * width), rel=1e-5, abs=1e-6)


@pytest.mark.parametrize("cls", sorted(subclasses(Functional), key=lambda cls: cls.__name__))
def test_threads_change_nothing(cls, rng, monkeypatch):
    train = random_queries(rng, [200] * 30, 6)
    for maker in MAKERS[cls.__name__]:
        functional = maker(train)
        theta, weights = rng.normal(size=functional.n_parameters), rng.normal(size=train.n_docs)
        found = []
        for threads in ("1", "2", "5"):
            monkeypatch.setenv("LETORBENCH_THREADS", threads)
            back = functional.pull_back(theta, train.features, weights)
            found.append((functional.model(theta).predict(train.features), back))
        for scores, back in found[1:]:
            np.testing.assert_array_equal(scores, found[0][0])
            np.testing.assert_array_equal(back, found[0][1])


def test_moments_are_numpys_and_constant_columns_stay_finite(rng):
    features = rng.random((1_000, 4), dtype=np.float32)
    features[:, 2] = 0.7
    mean, scale = moments(features, rows=64)
    wide = features.astype(np.float64)
    np.testing.assert_allclose(mean, wide.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(scale[[0, 1, 3]], wide.std(axis=0)[[0, 1, 3]], rtol=1e-12)
    assert scale[2] == 1.0
