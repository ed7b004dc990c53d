"""Intervals, tests and orders that count queries and seeds, against variances that are known."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from letorbench.analysis import paired
from letorbench.analysis.paired import (
    Interval,
    bootstrap_columns,
    bootstrap_difference,
    randomization,
    resampled_means,
    t,
)
from letorbench.analysis.seeds import SeedNoise, satterthwaite, seed_weights, turned

N, FOLDS = 100, np.repeat(np.arange(5), 20)


def interval(values: np.ndarray, rng: np.random.Generator, resamples: int) -> Interval:
    """Of the mean of a column of queries in one fold, with one seed."""
    table = np.asarray(values)[None, :, None]
    return bootstrap_columns(table, np.zeros(len(values)), rng, resamples)[0]


def test_agrees_with_scipy(rng):
    values = rng.beta(0.5, 1.0, 106)
    result = interval(values, rng, 20_000)
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile"
    ).confidence_interval
    error = 0.06 * values.std() / math.sqrt(106)  # the Monte-Carlo error of both quantiles
    assert result.mean == values.mean()
    assert result.low == pytest.approx(reference.low, abs=error)
    assert result.high == pytest.approx(reference.high, abs=error)


def test_blocks_of_draws_leave_no_gap(rng, monkeypatch):
    monkeypatch.setattr(paired, "BLOCK", 70)
    result = interval(rng.random(20) + 5.0, rng, 1001)
    assert 5.0 < result.low < result.mean < result.high < 6.0


def simulated(rng, repeats, gap=0.0, query=0.3, seed=0.1, cell=0.05):
    """A table (repeats, N) with known parts: queries, a seed for each fold, single cells.

    The standard error of its mean is query / sqrt(N) for the queries and, for the seeds, seed /
    sqrt(5 repeats).
    """
    queries = rng.normal(0.0, query, N)
    effects = rng.normal(0.0, seed, (repeats, 5))[:, FOLDS]
    return gap + queries + effects + rng.normal(0.0, cell, (repeats, N))


@pytest.mark.parametrize("repeats", [2, 5])
def test_seeds_have_the_variance_of_their_mean(repeats):
    """Also of two seeds, where drawing as many as there are would give half of it."""
    rng = np.random.default_rng(repeats)
    values = rng.normal(size=repeats)
    means = seed_weights(repeats, rng, 200_000) @ values
    assert means.var() == pytest.approx(values.var(ddof=1) / repeats, rel=0.02)
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert seed_weights(1, rng, 3).tolist() == [[1.0]] * 3


def test_intervals_of_a_difference_cover():
    """An algorithm that draws against one that does not, true difference 0.1."""
    rng = np.random.default_rng(1)
    repeats, seed, inside, blind, trials = 3, 0.15, 0, 0, 400
    for _ in range(trials):
        base = rng.normal(0.0, 0.3, (1, N))
        table = base + simulated(rng, repeats, 0.1, query=0.2, seed=seed)
        result = bootstrap_difference(table, base, FOLDS, rng, resamples=600)
        inside += result.low <= 0.1 <= result.high
        only = bootstrap_difference(table.mean(axis=0)[None], base, FOLDS, rng, resamples=600)
        blind += only.low <= 0.1 <= only.high
    # 95 % of 400 trials are within three standard errors of .917 and .983; few seeds cost some
    assert 0.915 <= inside / trials <= 0.985
    assert blind < inside - 0.03 * trials  # queries alone do not do


def test_the_variance_is_that_of_both_parts():
    rng = np.random.default_rng(3)
    table = simulated(rng, 10, query=0.3, seed=0.2, cell=0.0)
    (means,) = resampled_means([table[:, :, None]], FOLDS, rng, 40_000)
    by_query = table.mean(axis=0).var() / N
    noise = SeedNoise.of(table, np.zeros((1, N)), FOLDS)
    by_seed = sum(variance for variance, _ in noise.variances)
    assert means.var() == pytest.approx(by_query + by_seed, rel=0.05)
    assert noise.draw(rng, 100_000).var() == pytest.approx(by_seed, rel=0.03)


@pytest.mark.parametrize("name", ["randomization", "t"])
def test_the_level_of_a_test_holds_only_with_the_seeds(name):
    """No difference but for queries and seeds: p < .05 in 5 % of the trials."""
    rng = np.random.default_rng(6)
    trials, found, blind = 400, 0, 0
    for _ in range(trials):
        table = simulated(rng, 6, query=0.2, seed=0.15)
        noise = SeedNoise.of(table, np.zeros((1, N)), FOLDS)
        a, b = table.mean(axis=0), np.zeros(N)
        if name == "t":
            found, blind = found + (t(a, b, noise).p < 0.05), blind + (t(a, b).p < 0.05)
        else:
            found += randomization(a, b, rng, 999, noise).p < 0.05
            blind += randomization(a, b, rng, 999).p < 0.05
    assert 0.02 <= found / trials <= 0.085 and blind / trials > 0.12


def test_noise_by_hand():
    a = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    noise = SeedNoise.of(a, np.zeros((1, 3)), np.array([1, 1, 2]))
    assert [part.tolist() for part in noise.parts] == [pytest.approx([-1 / 6, 1 / 6]), [0.0, 0.0]]
    assert noise.variances == [(pytest.approx(2 / 36 / 2), 1), (0.0, 1)]
    assert not SeedNoise.of(a[:1], a[1:], np.array([1, 1, 2]))
    assert satterthwaite([(2.0, 7)]) == pytest.approx(7.0)
    assert satterthwaite([(1.0, 4), (1.0, 4)]) == pytest.approx(8.0)  # Welch, equal parts


def test_turned_by_brute_force():
    rng = np.random.default_rng(9)
    a, b = rng.normal(0.1, 1.0, 7), rng.normal(0.0, 1.0, 5)
    lead = a.mean() - b.mean()
    pairs = [(x - y) * lead < 0 for x, y in itertools.product(a, b)]
    assert turned(a, b) == pytest.approx(np.mean(pairs)) and turned([0.5], [0.5]) == 0.0
