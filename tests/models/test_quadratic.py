"""Kept products against NumPy's correlations, scores against the formula, memory against theirs."""

import tracemalloc

import numpy as np
import pytest
from conftest import random_queries, unlocked

from letorbench.features.moments import mean_and_scale
from letorbench.models.parametric import FamilySettings
from letorbench.models.quadratic import QuadraticFamily, product_correlations


def products_of(x: np.ndarray) -> tuple[list[tuple[int, int]], np.ndarray]:
    pairs = [(k, j) for k in range(x.shape[1]) for j in range(k, x.shape[1])]
    return pairs, np.stack([x[:, k] * x[:, j] for k, j in pairs], axis=1)


def standardised(features: np.ndarray) -> np.ndarray:
    mean, scale = mean_and_scale(features)
    return (features - mean) / scale


def test_correlations_are_numpys(rng):
    train = random_queries(rng, [20] * 30, 7, levels=4)
    with unlocked(train):
        train.features[:, 3] = 2.0  # constant products have no correlation
        train.features[:, 5] = np.where(train.features[:, 5] > 0, 1.0, -1.0)
    pairs, products = products_of(standardised(train.features))
    result = product_correlations(train, *mean_and_scale(train.features))
    for (k, j), column in zip(pairs, products.T):
        expected = np.nan if 3 in (k, j) else np.corrcoef(column, train.labels)[0, 1]
        both = result[k, j], result[j, k]
        np.testing.assert_allclose(both, expected, rtol=0, atol=1e-10)


@pytest.mark.parametrize("rho", [0.0, 0.05, 0.9])
def test_scores_are_the_formula(rho, rng):
    train = random_queries(rng, [20] * 10 + [7], 6, levels=3)
    family = QuadraticFamily.of(train, FamilySettings(rho=rho))
    x = standardised(train.features)
    pairs, products = products_of(x)
    r = np.abs([np.corrcoef(column, train.labels)[0, 1] for column in products.T])
    kept = np.flatnonzero(r >= rho)
    assert family.n_products == len(kept)
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
    assert family.n_products == 7_260
    assert peak < 30e6
