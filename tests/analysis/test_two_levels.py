"""Intervals, tests and orders that count queries and seeds, against variances that are known."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from letorbench.analysis.intervals import bootstrap_columns, bootstrap_difference
from letorbench.analysis.significance import randomization, t
from letorbench.analysis.two_levels import (
    two_level_columns,
    two_level_difference,
    two_level_means,
)

from letorbench.analysis.seeds import (
    SeedNoise,
    is_open,
    satterthwaite,
    seed_weights,
    turned,
)

N, FOLDS = 100, np.repeat(np.arange(5), 20)


def simulated(rng, repeats, gap=0.0, query=0.3, seed=0.1, cell=0.05):
    """A table (repeats, N) with known parts: queries, a seed for each fold, single cells.

    The standard error of its mean is query / sqrt(N) for the queries and, for the seeds, seed /
    sqrt(5 repeats).
    """
    queries = rng.normal(0.0, query, N)
    effects = rng.normal(0.0, seed, (repeats, 5))[:, FOLDS]
    return gap + queries + effects + rng.normal(0.0, cell, (repeats, N))


@pytest.mark.parametrize("repeats", [2, 5, 10])
def test_seeds_have_the_variance_of_their_mean(repeats):
    """Also of two seeds, where drawing as many as there are would give half of it."""
    rng = np.random.default_rng(repeats)
    values = rng.normal(size=repeats)
    means = seed_weights(repeats, rng, 200_000) @ values
    assert means.var() == pytest.approx(values.var(ddof=1) / repeats, rel=0.02)
    assert means.mean() == pytest.approx(values.mean(), abs=0.01)
    assert seed_weights(1, rng, 3).tolist() == [[1.0]] * 3


@pytest.mark.parametrize("repeats", [1, 2, 3])
def test_the_difference_is_that_of_all_repeats(repeats, rng):
    a, b = rng.random((2, repeats, N))
    found = two_level_difference(a, b, FOLDS, rng, resamples=50)
    assert found.mean == pytest.approx(a.mean() - b.mean())


def test_seeds_that_agree_leave_nothing_open():
    assert SeedNoise.of_means([0.4, 0.4, 0.4], [0.3]).reach() == 0.0


@pytest.mark.parametrize("repeats, seed", [(5, 0.03), (5, 0.15), (10, 0.3), (3, 0.15)])
def test_intervals_of_a_difference_cover(repeats, seed):
    """An algorithm that draws against one that does not, true difference 0.1."""
    rng = np.random.default_rng(1)
    inside, blind = 0, 0
    trials = 400
    for _ in range(trials):
        base = rng.normal(0.0, 0.3, (1, N))
        table = base + simulated(rng, repeats, 0.1, query=0.2, seed=seed)
        found = two_level_difference(table, base, FOLDS, rng, resamples=600)
        inside += found.low <= 0.1 <= found.high
        only = bootstrap_difference(table.mean(axis=0), base[0], rng, resamples=600)
        blind += only.low <= 0.1 <= only.high
    # 95 % of 400 trials are within three standard errors of .917 and .983; few seeds cost some
    assert 0.915 <= inside / trials <= 0.985
    if seed >= 0.15:
        assert blind < inside - 0.03 * trials  # queries alone do not do


def test_intervals_of_two_that_draw_cover():
    rng = np.random.default_rng(2)
    trials, inside = 300, 0
    for _ in range(trials):
        a, b = simulated(rng, 5, 0.05, query=0.0, seed=0.1), simulated(rng, 8, query=0.2, seed=0.05)
        found = two_level_difference(a, b, FOLDS, rng, resamples=600)
        inside += found.low <= 0.05 <= found.high
    assert 0.91 <= inside / trials <= 0.99


def test_the_variance_is_that_of_both_parts():
    """By the sum over all resamples' limits: query part, seed part, and no less."""
    rng = np.random.default_rng(3)
    table = simulated(rng, 10, query=0.3, seed=0.2, cell=0.0)
    (means,) = two_level_means([table[:, :, None]], FOLDS, rng, 40_000)
    by_query = table.mean(axis=0).var() / N
    noise = SeedNoise.of(table, np.zeros((1, N)), FOLDS)
    by_seed = sum(variance for variance, _ in noise.variances)
    assert means.var() == pytest.approx(by_query + by_seed, rel=0.05)
    assert noise.draw(rng, 100_000).var() == pytest.approx(by_seed, rel=0.03)


def test_one_seed_is_the_bootstrap_of_queries():
    rng = np.random.default_rng(4)
    table = rng.random((1, N, 3))
    one = two_level_columns(table, FOLDS, np.random.default_rng(0), resamples=500)
    assert one == bootstrap_columns(table[0], np.random.default_rng(0), resamples=500)
    a, b = rng.random((1, N)), rng.random((1, N))
    found = two_level_difference(a, b, FOLDS, np.random.default_rng(0), resamples=500)
    assert found == bootstrap_difference(a[0], b[0], np.random.default_rng(0), resamples=500)


def test_columns_have_the_means_of_the_repeats():
    rng = np.random.default_rng(5)
    table = rng.random((4, N, 2))
    found = two_level_columns(table, FOLDS, rng, resamples=500)
    assert [f.mean for f in found] == pytest.approx(table.mean(axis=(0, 1)))
    assert all(f.low < f.mean < f.high for f in found)


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
    assert 0.02 <= found / trials <= 0.085
    assert blind / trials > 0.12


def test_noise_by_hand():
    a = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    noise = SeedNoise.of(a, np.zeros((1, 3)), np.array([1, 1, 2]))
    assert [part.tolist() for part in noise.parts] == [pytest.approx([-1 / 6, 1 / 6]), [0.0, 0.0]]
    assert noise.variances == [(pytest.approx(2 / 36 / 2), 1), (0.0, 1)]
    assert not SeedNoise.of(a[:1], a[1:], np.array([1, 1, 2]))


def test_degrees_of_freedom():
    assert satterthwaite([(2.0, 7)]) == pytest.approx(7.0)
    assert satterthwaite([(1.0, 4), (1.0, 4)]) == pytest.approx(8.0)  # Welch, equal parts


def test_open_orders():
    rng = np.random.default_rng(7)
    a = rng.normal(0.45, 0.01, 10).tolist()
    assert is_open(a, [float(np.mean(a)) + 0.004]) and not is_open(a, [0.48])
    assert not is_open([0.4], [0.400001])  # nothing is drawn
    assert not is_open([0.4, 0.4], [0.4, 0.4])  # seeds move nothing
    assert is_open([0.40, 0.44], [0.30])  # two seeds say little


def test_an_open_order_is_one_that_other_seeds_often_turn():
    """Two equal algorithms are called settled in about 5 % of the trials."""
    rng = np.random.default_rng(8)
    trials = 1000
    settled = sum(
        not is_open(rng.normal(0.45, 0.01, 5), rng.normal(0.45, 0.01, 5)) for _ in range(trials)
    )
    assert 0.03 <= settled / trials <= 0.07


def test_turned_by_brute_force():
    rng = np.random.default_rng(9)
    a, b = rng.normal(0.1, 1.0, 7), rng.normal(0.0, 1.0, 5)
    lead = a.mean() - b.mean()
    pairs = [(x - y) * lead < 0 for x, y in itertools.product(a, b)]
    assert turned(a, b) == pytest.approx(np.mean(pairs))
    assert turned([0.5], [0.5]) == 0.0
