"""Intervals and tests that count queries and seeds, against variances that are known."""

import numpy as np
import pytest
from scipy import stats

from letorbench.analysis.leads import Lead
from letorbench.analysis.paired import randomization, satterthwaite, seed_variances, t

N, FOLDS = 100, np.repeat(np.arange(5), 20)


def test_the_interval_of_one_seed_is_students(rng):
    values = rng.normal(size=N)
    lead = Lead.over_nothing(values[None], FOLDS)
    expected = stats.t.interval(0.95, lead.degrees, values.mean(), stats.sem(values))
    assert lead.mean == values.mean() and lead.interval() == pytest.approx(expected)


def simulated(rng, repeats, gap=0.0, query=0.3, seed=0.1, cell=0.05):
    """A table (repeats, N) with known parts: queries, a seed for each fold, single cells.

    The standard error of its mean is query / sqrt(N) for the queries and, for the seeds, seed /
    sqrt(5 repeats).
    """
    queries = rng.normal(0.0, query, N)
    effects = rng.normal(0.0, seed, (repeats, 5))[:, FOLDS]
    return gap + queries + effects + rng.normal(0.0, cell, (repeats, N))


def test_intervals_of_a_difference_cover():
    """An algorithm that draws against one that does not, true difference 0.1."""
    rng = np.random.default_rng(1)
    inside, blind, trials = 0, 0, 1_000
    for _ in range(trials):
        base = rng.normal(0.0, 0.3, (1, N))
        table = base + simulated(rng, 3, 0.1, query=0.2, seed=0.15)
        low, high = Lead.of(table, base, FOLDS).interval()
        inside += low <= 0.1 <= high
        low, high = Lead.of(table.mean(axis=0)[None], base, FOLDS).interval()
        blind += low <= 0.1 <= high
    # 95 % of 1,000 trials are within three standard errors of .93 and .97
    assert 0.93 <= inside / trials <= 0.97
    assert blind < inside - 0.03 * trials  # queries alone do not do


@pytest.mark.parametrize("name", ["randomization", "t"])
def test_the_level_of_a_test_holds_only_with_the_seeds(name):
    """No difference but for queries and seeds: p < .05 in 5 % of the trials."""
    rng = np.random.default_rng(6)
    trials, found, blind = 400, 0, 0
    for _ in range(trials):
        table = simulated(rng, 6, query=0.2, seed=0.15)
        seeds = seed_variances(table, np.zeros((1, N)), FOLDS)
        a, b = table.mean(axis=0), np.zeros(N)
        if name == "t":
            found, blind = found + (t(a, b, seeds) < 0.05), blind + (t(a, b) < 0.05)
        else:
            found += randomization(a, b, rng, seeds, 999) < 0.05
            blind += randomization(a, b, rng, (), 999) < 0.05
    assert 0.02 <= found / trials <= 0.085 and blind / trials > 0.12


def test_variances_by_hand():
    a = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    found = seed_variances(a, np.zeros((1, 3)), np.array([1, 1, 2]))
    assert found == [(pytest.approx(2 / 36 / 2), 1), (0.0, 1)]
    assert seed_variances(a[:1], a[1:], np.array([1, 1, 2])) == []
    assert satterthwaite([(2.0, 7)]) == pytest.approx(7.0)
    assert satterthwaite([(1.0, 4), (1.0, 4)]) == pytest.approx(8.0)  # Welch, equal parts
