"""Tests, intervals, ranks: by brute force, by scipy, by hand, and by Demsar's printed figures."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from letorbench.analysis import paired, ranks
from letorbench.analysis.paired import (
    CORRECTIONS,
    TESTS,
    MeanDifference,
    corrected,
    randomization,
    satterthwaite,
    seed_variances,
    t,
    tukey,
    wilcoxon,
)
from letorbench.errors import DataError
from letorbench.results.per_query import PerQuery

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
    assert randomization(np.ones(200), np.zeros(200), rng, samples=999) == 1 / 1000


def test_t_and_wilcoxon_are_scipys(rng):
    """Wilcoxon's leaves out queries without a difference."""
    a, b = rng.random((2, 25))
    assert t(a, b) == pytest.approx(stats.ttest_rel(a, b).pvalue, abs=1e-12)
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
    alike = [(0.0, 1)]  # the variance of seeds that all give the same values
    assert TESTS[name](np.ones(60), np.zeros(60), rng, alike) < 1e-4


def test_values_that_cannot_be_paired():
    for a, b, named in (
        ([0.0] * 3, [0.0] * 4, r"\(3,\) and \(4,\)"),
        ([], [], r"\(0,\) and \(0,\)"),
        ([0.0, np.nan], [0.0] * 2, "finite"),
    ):
        with pytest.raises(DataError, match=named):
            paired.differences(np.array(a), np.array(b))


def test_effect_size_and_counts():
    a, b = np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.4, 0.4])  # .1 .3 .2: mean .2, sd .1
    assert paired.effect_size(a, b) == pytest.approx(2.0) == -paired.effect_size(b, a)
    assert paired.effect_size(a, a) == paired.effect_size(a[:1], a[:1]) == 0.0
    for unit in (1.0, 1e4 / 3.0):  # but for rounding, all differ alike
        x, y = unit * a + 0.1 * unit, unit * a
        assert paired.effect_size(x, y) == math.inf == -paired.effect_size(y, x)
    assert math.isnan(paired.effect_size(np.array([0.5]), np.array([0.4])))
    a, b = np.array([0.5, 0.1 + 0.2, 0.0, 1.0, 0.2]), np.array([0.4, 0.3, 0.0, 0.9, 0.3])
    assert paired.win_tie_loss(a, b) == (2, 2, 1)


def test_corrections_by_hand():
    p = np.array([0.01, 0.04, 0.03, 0.005])
    for name, expected in (
        ("holm", [0.03, 0.06, 0.06, 0.02]),
        ("bh", [0.02, 0.04, 0.04, 0.02]),
        ("bonferroni", [0.04, 0.16, 0.12, 0.02]),
        ("none", p.tolist()),
    ):
        assert CORRECTIONS[name](p) == pytest.approx(expected, abs=1e-15)
        found = corrected(np.insert(p, 1, np.nan), name)  # what was not tested
        assert np.isnan(found[1]) and np.delete(found, 1) == pytest.approx(expected, abs=1e-15)
    assert CORRECTIONS["bonferroni"](np.array([0.5, 0.9])).tolist() == [1.0, 1.0]


def test_tukey_by_every_order_of_every_query(rng):
    """Three algorithms on four queries, some with ties: 6 ** 4 orders."""
    values = rng.integers(0, 5, (3, 4)) / 10.0
    values[:, 1] = [0.1 + 0.2, 0.3, 0.3]  # equal but for rounding
    orders = np.array(list(itertools.permutations(range(3))))
    sums = [sum(values[order, q] for q, order in enumerate(each))
            for each in itertools.product(orders, repeat=4)]  # fmt: skip
    widest, totals = np.ptp(sums, axis=1) + 1e-9, values.sum(axis=1)
    found = tukey(values, rng, samples=SAMPLES)
    for i, j in itertools.combinations(range(3), 2):
        expected = float(np.mean(widest >= abs(totals[i] - totals[j])))
        assert found[i, j] == found[j, i] == near(expected)
    assert found.diagonal().tolist() == [1.0] * 3


def test_tukey_of_two_is_the_randomisation_test_and_seeds_count(rng):
    a, b = rng.random((2, 40))
    tables = np.array([a, b + 0.1])[:, None] + np.array([[-0.2], [-0.1], [0.0], [0.1], [0.2]])
    seeds = seed_variances(*tables, np.repeat(np.arange(4), 10))
    errors = np.sqrt([sum(v for v, _ in seeds[:4]), sum(v for v, _ in seeds[4:])])
    means = tables.mean(axis=1)
    expected = randomization(*means, rng, seeds)
    assert tukey(means, rng, errors, SAMPLES)[0, 1] == near(expected)
    assert tukey(means, rng, 0.0, SAMPLES)[0, 1] == near(randomization(*means, rng))
    assert abs(tukey(means, rng, 0.0, SAMPLES)[0, 1] - expected) > 0.02


def test_the_interval_of_one_seed_is_students(rng):
    """Of the queries with a value; where few differ their kurtosis takes degrees of freedom."""
    values = rng.normal(size=100)
    queries = PerQuery("a", np.repeat(np.arange(5), 20), np.arange(100), {"map": values})
    mean = MeanDifference.of_queries(queries, "map")
    expected = stats.t.interval(0.95, mean.degrees_of_freedom, values.mean(), stats.sem(values))
    assert mean.mean == values.mean() and mean.interval() == pytest.approx(expected)
    of_folds = [(k, np.arange(k, k + 20.0)) for k in range(5)]
    weighted = replace(queries, weights=np.concatenate([weights for _, weights in of_folds]))
    means = [np.average(values[20 * k : 20 * k + 20], weights=w) for k, w in of_folds]
    assert MeanDifference.of_queries(weighted, "map").mean == pytest.approx(np.mean(means))
    one = np.r_[np.eye(1, 10)[0], np.nan]  # of ten: the kurtosis is 73 / 9
    found = MeanDifference.of_queries(PerQuery("a", np.ones(11), np.arange(11), {"p": one}), "p")
    assert found.degrees_of_freedom == pytest.approx(20 / (73 / 9 - 1)) and found.n_values == 10


def test_the_corrected_resampled_t_test_by_hand():
    d = np.array([0.1, 0.3, -0.1, 0.2, 0.0])
    mean = MeanDifference.of_resamples(d, 0.5)
    error = math.sqrt((1 / 5 + 0.5) * 0.025)  # s^2 = (0 + .04 + .04 + .01 + .01) / 4
    assert (mean.mean, mean.error, mean.degrees_of_freedom) == pytest.approx((0.1, error, 4))
    assert mean.p == pytest.approx(2 * stats.t.sf(0.1 / error, 4))
    assert mean.interval() == pytest.approx((0.1 - 2.776445 * error, 0.1 + 2.776445 * error))
    values = np.zeros(3), np.ones(3), np.ones(1)
    assert [MeanDifference.of_resamples(each, 0.5).p for each in values] == [1.0, 0.0, 1.0]


def test_p_and_errors_with_seeds_by_hand(rng):
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
    assert satterthwaite([(2.0, 7)]) == pytest.approx(7.0)
    assert satterthwaite([(1.0, 4), (1.0, 4)]) == pytest.approx(8.0)  # Welch, equal parts
    a, folds = np.array([[0.0, 0.0, 1.0], [1.0, 0.0, 1.0]]), np.array([1, 1, 2])
    found = seed_variances(a, np.zeros((1, 3)), folds)
    assert found == [(pytest.approx(2 / 36 / 2), 1), (0.0, 1)]
    assert seed_variances(a[:1], a[1:], folds) == []
    mean = MeanDifference.of(a, np.zeros((1, 3)), folds)  # of .5, 0, 1 and the seeds of fold 1
    assert mean.error == pytest.approx(math.sqrt(0.25 / 3 + 1 / 36))


#: Demsar (2006), table 6: AUC of C4.5 and its three variants on 14 data sets
DEMSAR = np.array([
    [.763, .768, .771, .798], [.599, .591, .590, .569], [.954, .971, .968, .967],
    [.628, .661, .654, .657], [.882, .888, .886, .898], [.936, .931, .916, .931],
    [.661, .668, .609, .685], [.583, .583, .563, .625], [.775, .838, .866, .875],
    [1.00, 1.00, 1.00, 1.00], [.940, .962, .965, .962], [.619, .666, .614, .669],
    [.972, .981, .9751, .975], [.957, .978, .946, .970],
])  # fmt: skip


def test_winning_numbers_by_loops(rng):
    values = rng.integers(0, 4, (7, 6)) / 3.0
    values[rng.random((7, 6)) < 0.25] = np.nan
    won, ideal = np.zeros(6, dtype=int), np.zeros(6, dtype=int)
    for dataset, i, k in itertools.product(range(7), range(6), range(6)):
        mine, other = values[dataset, i], values[dataset, k]
        if i != k and not math.isnan(mine) and not math.isnan(other):
            ideal[i] += 1
            won[i] += mine > other
    np.testing.assert_array_equal(ranks.winning_numbers(values), won)
    np.testing.assert_array_equal(ranks.ideal_winning_numbers(values), ideal)
    assert ranks.winning_numbers(np.array([[0.1 + 0.2, 0.3]])).tolist() == [0, 0]  # rounding


def test_demsars_example():
    """His section 3.2.2: these ranks, chi-squared 9.28, CD 1.25 at .05 and 1.12 at .10."""
    means = ranks.ranks_of(DEMSAR).mean(axis=0)
    assert means == pytest.approx([3.143, 2.000, 2.893, 1.964], abs=5e-4)
    n, k = DEMSAR.shape
    plain = 12 * n / (k * (k + 1)) * ((means**2).sum() - k * (k + 1) ** 2 / 4)
    assert plain == pytest.approx(9.28, abs=0.01)
    statistic, p = ranks.friedman(DEMSAR)
    ties = (4**3 - 4) + 3 * (2**3 - 2)  # one data set all tied, three with a tied pair
    assert statistic == pytest.approx(plain / (1 - ties / (n * (k**3 - k))), rel=1e-12)
    assert p == pytest.approx(stats.chi2.sf(statistic, k - 1), abs=1e-12)
    assert ranks.friedman(np.ones((4, 3)) * np.arange(4)[:, None]) == (0.0, 1.0)
    assert ranks.critical_difference(k, n, 0.10) == pytest.approx(1.12, abs=0.01)
    assert ranks.critical_difference(k, n) == pytest.approx(1.25, abs=0.01)


@pytest.mark.parametrize("seed", range(10))
def test_tied_groups_by_brute_force(seed):
    means, difference = 1 + np.random.default_rng(seed).integers(0, 16, 7) / 4.0, 1.25
    close = [
        set(group)
        for size in range(2, 8)
        for group in itertools.combinations(range(7), size)
        if np.ptp(means[list(group)]) < difference
    ]
    largest = [group for group in close if not any(group < other for other in close)]
    groups = ranks.tied_groups(means, difference)
    assert sorted(map(sorted, groups)) == sorted(map(sorted, largest))
    assert all((np.diff(means[list(group)]) >= 0).all() for group in groups)


@pytest.mark.parametrize("n", [2, 3, 13])
def test_diagram(rng, n):
    means = ranks.ranks_of(rng.random((8, n)) + np.linspace(0, 1.5, n)).mean(axis=0)
    difference = ranks.critical_difference(n, 8)
    figure = ranks.draw_ranks([f"a{i}" for i in range(n)], means, difference)
    figure.draw_without_rendering()  # positions are known once it is drawn
    (axes,), page = figure.axes, figure.bbox
    boxes = {text.get_text(): text.get_window_extent()
             for text in (*axes.texts, *axes.get_xticklabels())}  # fmt: skip
    ends = sorted(int(text) for text in boxes if text.isdigit())
    labels = {f"a{i}  {mean:.2f}" for i, mean in enumerate(means)}
    assert {*boxes} - {*map(str, ends)} == {*labels, f"CD = {difference:.2f}"}
    first, last = (1, n) if n < 13 else (math.floor(means.min()), math.ceil(means.max()))
    assert ends[0] == first and ends[-1] <= last and len(ends) <= 13
    for box in boxes.values():
        assert page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
    assert not any(one.overlaps(other) for one, other in itertools.combinations(boxes.values(), 2))
    bars = [line for line in axes.lines if line.get_linewidth() == 2.5]
    assert len(bars) == len(ranks.tied_groups(means, difference))
