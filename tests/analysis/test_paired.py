"""Paired tests and intervals: brute force, scipy, and their own promise, 5 % of true nulls."""

import itertools
import math

import numpy as np
import pytest
from scipy import stats

from letorbench.analysis import paired
from letorbench.analysis.paired import (
    CORRECTIONS,
    TESTS,
    MeanDifference,
    randomization,
    satterthwaite,
    seed_variances,
    t,
    tukey,
    wilcoxon,
)
from letorbench.errors import DataError

SAMPLES = 50_000


def near(p: float) -> object:
    """What SAMPLES draws may make of a p."""
    return pytest.approx(p, abs=4.5 * math.sqrt(p * (1 - p) / SAMPLES) + 1 / SAMPLES)


@pytest.mark.parametrize("n", [1, 2, 5, 8, 11])
def test_randomization_by_every_assignment_of_signs(n):
    """Also where sums tie: 0.1 + 0.2 and 0.3 do in tenths, and not in their floats."""
    rng = np.random.default_rng(n)
    for tenths in (rng.integers(-40, 41, n), rng.integers(-4, 5, n)):
        a, b = np.maximum(tenths, 0) * 0.1, np.maximum(-tenths, 0) * 0.1
        flips = np.array(list(itertools.product((-1, 1), repeat=n)))
        p = float(np.mean(np.abs(flips @ tenths) >= abs(tenths.sum())))
        assert randomization(a, b, rng, samples=SAMPLES) == near(p)


def test_wilcoxon_leaves_out_queries_without_a_difference(rng):
    a, b = rng.random((2, 25))
    expected = stats.wilcoxon(a, b, method="exact").pvalue
    assert wilcoxon(np.r_[a, 0.3], np.r_[b, 0.1 + 0.2]) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.filterwarnings("error")
def test_degenerate(rng, name):
    def p(a, b) -> float:
        return TESTS[name](np.array(a), np.array(b), rng, ())

    base = rng.random(60)
    assert p(base, base) == p(base, base * (1 + 1e-15)) == p([0.3], [0.1]) == 1.0
    assert p([0.1, 0.3, 0.0, 0.0], [0.3, 0.1, 0.0, 0.0]) == 1.0
    assert 0.0 <= p(base + 0.1, base) < 1e-4


def test_values_that_cannot_be_paired():
    shapes = "found values of shapes {} and {}, expected one value per query, for the same queries"
    for a, b, told in (
        (np.zeros(3), np.zeros(4), shapes.format((3,), (4,))),
        (np.zeros(0), np.zeros(0), shapes.format((0,), (0,))),
        (np.array([0.0, np.nan]), np.zeros(2), "found a value that is no finite number"),
    ):
        with pytest.raises(DataError) as error:
            paired.differences(a, b)
        assert str(error.value) == f"paired test: {told}"


def test_effect_size_and_counts(rng):
    a, b = np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.4, 0.4])  # .1 .3 .2: mean .2, sd .1
    assert paired.effect_size(a, b) == pytest.approx(2.0) == -paired.effect_size(b, a)
    assert paired.effect_size(a, a) == paired.effect_size(a[:1], a[:1]) == 0.0
    assert paired.effect_size(a + 0.1, a) == math.inf == -paired.effect_size(a, a + 0.1)
    assert math.isnan(paired.effect_size(np.array([0.5]), np.array([0.4])))
    a = np.array([0.5, 0.1 + 0.2, 0.0, 1.0, 0.2])
    b = np.array([0.4, 0.3, 0.0, 0.9, 0.3])
    assert paired.win_tie_loss(a, b) == (2, 2, 1)


def test_corrections_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    assert CORRECTIONS["holm"](p) == pytest.approx([0.03, 0.06, 0.06, 0.02], abs=1e-15)
    assert CORRECTIONS["bh"](p) == pytest.approx([0.02, 0.04, 0.04, 0.02], abs=1e-15)
    assert CORRECTIONS["bonferroni"](p) == pytest.approx([0.04, 0.16, 0.12, 0.02], abs=1e-15)
    assert CORRECTIONS["bonferroni"](np.array([0.5, 0.9])).tolist() == [1.0, 1.0]
    assert CORRECTIONS["none"](p).tolist() == p.tolist()


def test_tukey_by_every_order_of_every_query(rng):
    """Three algorithms on four queries, some with ties: 6 ** 4 orders."""
    values = rng.integers(0, 5, (3, 4)) / 10.0
    values[:, 1] = [0.1 + 0.2, 0.3, 0.3]  # equal but for rounding
    orders = np.array(list(itertools.permutations(range(3))))
    sums = [sum(values[order, q] for q, order in enumerate(each))
            for each in itertools.product(orders, repeat=4)]  # fmt: skip
    widest = np.ptp(sums, axis=1) + 1e-9
    found = tukey(values, rng, samples=SAMPLES)
    totals = values.sum(axis=1)
    for i, j in itertools.combinations(range(3), 2):
        assert (
            found[i, j] == found[j, i] == near(float(np.mean(widest >= abs(totals[i] - totals[j]))))
        )
    assert found.diagonal().tolist() == [1.0] * 3


def test_tukey_of_two_is_the_randomisation_test_and_seeds_count(rng):
    a, b = rng.random((2, 40))
    b += 0.1
    assert tukey(np.array([a, b]), rng, samples=SAMPLES)[0, 1] == near(randomization(a, b, rng))
    tables = np.array([a, b])[:, None] + np.array([[-0.2], [-0.1], [0.0], [0.1], [0.2]])
    folds = np.repeat(np.arange(4), 10)
    seeds = seed_variances(*tables, folds)
    errors = np.sqrt([sum(v for v, _ in seeds[:4]), sum(v for v, _ in seeds[4:])])
    means = tables.mean(axis=1)
    expected = randomization(*means, rng, seeds)
    assert tukey(means, rng, errors, SAMPLES)[0, 1] == near(expected)
    assert abs(tukey(means, rng, 0.0, SAMPLES)[0, 1] - expected) > 0.02


def test_intervals_of_a_difference_cover():
    """An algorithm that draws against one that does not, true difference 0.1."""
    rng, folds = np.random.default_rng(1), np.repeat(np.arange(5), 20)
    inside, blind, trials = 0, 0, 1_000
    for _ in range(trials):
        base = rng.normal(0.0, 0.3, (1, 100))
        queries, seeds = rng.normal(0.0, 0.2, 100), rng.normal(0.0, 0.15, (3, 5))[:, folds]
        table = base + 0.1 + queries + seeds + rng.normal(0.0, 0.05, (3, 100))
        low, high = MeanDifference.of(table, base, folds).interval()
        inside += low <= 0.1 <= high
        low, high = MeanDifference.of(table.mean(axis=0)[None], base, folds).interval()
        blind += low <= 0.1 <= high
    # 95 % of 1,000 trials are within three standard errors of .93 and .97
    assert 0.93 <= inside / trials <= 0.97
    assert blind < inside - 0.03 * trials  # queries alone do not do


def test_the_corrected_resampled_t_test_by_hand():
    d = np.array([0.1, 0.3, -0.1, 0.2, 0.0])
    mean = MeanDifference.of_resamples(d, 0.5)
    error = math.sqrt((1 / 5 + 0.5) * 0.025)  # s^2 = (0 + .04 + .04 + .01 + .01) / 4
    assert (mean.mean, mean.error, mean.degrees_of_freedom) == pytest.approx((0.1, error, 4))
    assert mean.p == pytest.approx(2 * stats.t.sf(0.1 / error, 4))
    assert mean.interval() == pytest.approx((0.1 - 2.776445 * error, 0.1 + 2.776445 * error))
    assert MeanDifference.of_resamples(np.zeros(3), 0.5).p == 1.0
    assert MeanDifference.of_resamples(np.ones(3), 0.5).p == 0.0
    assert MeanDifference.of_resamples(np.ones(1), 0.5).p == 1.0


def test_p_with_seeds_by_hand(rng):
    """Both sides count: Welch's t of queries and seeds; and a normal draw beside one query."""
    d, seeds = rng.normal(0.1, 0.2, 12), [(0.002, 4), (0.001, 2)]
    parts = [(d.var(ddof=1) / 12, 11), *seeds]
    total = sum(variance for variance, _ in parts)
    degrees = total**2 / sum(variance**2 / n for variance, n in parts)
    expected = 2 * stats.t.sf(abs(d.mean()) / np.sqrt(total), degrees)
    for sides in ((d, np.zeros(12)), (np.zeros(12), d)):
        assert t(*sides, seeds) == pytest.approx(expected, rel=1e-12) and 0.01 < expected < 0.9
        p = randomization(sides[0][:1] + 0.1, sides[1][:1] + 0.1, rng, [(0.01, 4)])
        assert p == pytest.approx(0.5 + stats.norm.cdf(-2 * abs(d[0]) / 0.1), abs=0.008)


def test_variances_by_hand():
    a = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]])
    found = seed_variances(a, np.zeros((1, 3)), np.array([1, 1, 2]))
    assert found == [(pytest.approx(2 / 36 / 2), 1), (0.0, 1)]
    assert seed_variances(a[:1], a[1:], np.array([1, 1, 2])) == []
    assert satterthwaite([(2.0, 7)]) == pytest.approx(7.0)
    assert satterthwaite([(1.0, 4), (1.0, 4)]) == pytest.approx(8.0)  # Welch, equal parts


def test_few_queries_that_differ_have_few_degrees_of_freedom():
    """One of ten: the kurtosis is 73 / 9, and 2 n / (73 / 9 - 1) is 2.8125."""
    found = MeanDifference.from_zero(np.eye(1, 10), np.ones(10))
    assert found.degrees_of_freedom == pytest.approx(2.8125)
