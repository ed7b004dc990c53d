"""Paired tests and intervals: brute force, scipy, and their own promise, 5 % of true nulls."""

import itertools
import math
from functools import partial

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


@pytest.mark.parametrize("n, losses", [(32, 11), (107, 44), (8000, 3900)])
def test_randomization_of_equal_sizes_is_the_sign_test(rng, n, losses):
    """With differences of +-1 the sums are binomial."""
    d = np.ones(n)
    d[rng.permutation(n)[:losses]] = -1.0
    p = randomization(d, np.zeros(n), rng, samples=SAMPLES)
    assert p == near(stats.binomtest(losses, n).pvalue)
    assert p * (SAMPLES + 1) == pytest.approx(round(p * (SAMPLES + 1)))
    assert randomization(np.ones(200), np.zeros(200), rng, samples=999) == 1 / 1000


@pytest.mark.parametrize("n", [2, 5, 106])
def test_t_is_scipys(rng, n):
    a, b = rng.random((2, n))
    assert t(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)


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


@pytest.mark.parametrize("name, n", [("wilcoxon", 24), ("wilcoxon", 90), ("randomization", 24)])
def test_two_sided_and_at_its_level(name, n):
    """A test at 5 % rejects 3 to 7 % of true nulls, here alike on a third of the queries."""
    rng = np.random.default_rng(12)
    a, b = rng.random((2, 500, n)) ** 2
    b = np.where(rng.random(a.shape) < 1 / 3, a, b)

    test = {"randomization": partial(randomization, samples=999), "wilcoxon": TESTS["wilcoxon"]}[
        name
    ]
    both = [test(x, y, np.random.default_rng(1), ()) for x, y in ((a[0], b[0]), (b[0], a[0]))]
    assert both[0] == both[1]
    rng = np.random.default_rng(13)
    ps = np.array([test(x, y, rng, ()) for x, y in zip(a, b)])
    assert 0.03 <= np.mean(ps <= 0.05) <= 0.07


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


def test_tukey_keeps_the_level_of_all_pairs_together():
    """Five equal algorithms, ten pairs: one of them is significant in 3 to 7 % of the draws."""
    rng = np.random.default_rng(21)
    least = [tukey(rng.random((5, 30)) ** 2, rng, samples=999).min() for _ in range(400)]
    assert 0.03 <= np.mean(np.array(least) <= 0.05) <= 0.07


N, FOLDS = 100, np.repeat(np.arange(5), 20)


def test_the_interval_of_one_seed_is_students(rng):
    values = rng.normal(size=N)
    lead = MeanDifference.from_zero(values[None], FOLDS)
    expected = stats.t.interval(0.95, lead.degrees_of_freedom, values.mean(), stats.sem(values))
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
        low, high = MeanDifference.of(table, base, FOLDS).interval()
        inside += low <= 0.1 <= high
        low, high = MeanDifference.of(table.mean(axis=0)[None], base, FOLDS).interval()
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


def test_the_corrected_resampled_t_test_keeps_its_level():
    """Two learners that choose the best of four models on training queries, and are equally good.

    Draws of five folds of 60 queries. The unit is a fold; draws alone do not do, since all test
    the same queries, and no more does a test without the correction.
    """
    rng, n, models, trials = np.random.default_rng(2), 60, 4, 600
    rejected = np.zeros(3)
    for _ in range(trials):
        turns = np.argsort(rng.random((4, n)), axis=1) // (n // 5)  # the part of each query
        k = np.arange(5)[:, None, None]
        train = ((turns - k) % 5 < 3).reshape(-1, n) / (n * 3 / 5)
        test = ((turns - k) % 5 == 4).reshape(-1, n) / (n / 5)
        quality = rng.normal(0.0, 0.1, models)
        values = []
        for _ in "ab":
            x = quality + rng.normal(0.0, 0.3, (n, models))
            best = (train @ x).argmax(axis=1)
            values.append((test @ x)[np.arange(20), best])
        d = values[0] - values[1]
        draws = d.reshape(5, 4).mean(axis=0)
        each = (d, 1 / 3), (d, 0.0), (draws, 1 / 3)
        rejected += [MeanDifference.of_resamples(*one).p < 0.05 for one in each]
    assert 0.01 <= rejected[0] / trials <= 0.07
    assert (rejected[1:] / trials > 0.15).all()


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
