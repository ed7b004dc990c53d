"""Paired tests against brute force, scipy, and their own promise: 5 % of true nulls."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from letorbench.analysis.sign_flips import sampled
from letorbench.analysis.significance import (
    EXACT,
    TESTS,
    differences,
    paired_test,
    randomization,
    t,
    wilcoxon,
)
from scipy import stats

from letorbench.errors import DataError, UsageError


def brute(d: np.ndarray) -> float:
    """Every assignment of signs, in rationals, where ties need no tolerance."""
    exact = [Fraction(float(x)) for x in d]
    least = abs(sum(exact))
    flips = list(itertools.product((-1, 1), repeat=len(d)))
    return sum(abs(sum(s * x for s, x in zip(f, exact))) >= least for f in flips) / len(flips)


@pytest.mark.parametrize("n", range(1, 12))
def test_randomization_is_exact(rng, n):
    a, b = rng.random(n), rng.random(n)
    result = randomization(a, b, rng)
    assert result.method == "exact" and result.n == n
    assert result.p == pytest.approx(brute(a - b), abs=1e-12)
    assert result.difference == result.statistic == pytest.approx(a.mean() - b.mean(), abs=1e-15)


@pytest.mark.parametrize("seed", range(6))
def test_randomization_counts_ties_and_zeros(seed):
    """Quarters are exact in binary, so that sums tie often and brute force sees it."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 3, (2, 11)) / 4.0
    assert randomization(a, b, rng).p == pytest.approx(brute(a - b), abs=1e-12)


def test_randomization_ties_do_not_hang_on_rounding(rng):
    """0.1 + 0.2 against 0.3: tied in tenths, and not in the binary sums of the tenths."""
    for _ in range(20):
        tenths = rng.integers(-4, 5, 10)
        a = np.maximum(tenths, 0) * 0.1
        b = np.maximum(-tenths, 0) * 0.1
        assert randomization(a, b, rng).p == pytest.approx(brute(tenths), abs=1e-12)


def test_randomization_agrees_with_scipy(rng):
    a, b = rng.random(15), rng.random(15)
    reference = stats.permutation_test(
        (a, b), lambda x, y: np.mean(x - y), permutation_type="samples", n_resamples=np.inf
    )
    assert randomization(a, b, rng).p == pytest.approx(reference.pvalue, abs=1e-12)


def test_largest_exact_count(rng):
    """+-1 differences: the sums are binomial, whatever their number."""
    d = np.ones(EXACT)
    d[:11] = -1.0
    p = randomization(d, np.zeros(EXACT), rng).p
    assert p == pytest.approx(stats.binomtest(11, EXACT).pvalue, abs=1e-12)


@pytest.mark.parametrize("n, losses", [(EXACT + 1, 12), (107, 44), (784, 370), (8000, 3900)])
def test_randomization_sampled(rng, n, losses):
    d = np.ones(n)
    d[rng.permutation(n)[:losses]] = -1.0
    result = randomization(d, np.zeros(n), rng, samples=50_000)
    p = stats.binomtest(losses, n).pvalue
    assert result.method == "sampled"
    assert abs(result.p - p) < 4.5 * math.sqrt(p * (1 - p) / 50_000) + 1 / 50_000
    assert result.p * 50_001 == pytest.approx(round(result.p * 50_001))


def test_sampled_signs_are_all_as_likely():
    """Of eight equal differences, two of the 256 assignments are as far out: all and none."""
    p = sampled(np.ones(8), np.random.default_rng(0), 200_000)
    assert p == pytest.approx(2 / 256, abs=5 * math.sqrt(2 / 256 / 200_000))


def test_sampled_p_is_never_zero(rng):
    assert randomization(np.ones(200), np.zeros(200), rng, samples=999).p == 1 / 1000


def test_sampled_is_repeated_by_its_seed():
    a, b = np.random.default_rng(0).random((2, 300))
    first, again = (randomization(a, b, np.random.default_rng(5)) for _ in range(2))
    assert first == again


@pytest.mark.parametrize("n", [2, 5, 106, 784])
def test_t_is_scipys(rng, n):
    a, b = rng.random((2, n))
    reference = stats.ttest_rel(a, b)
    result = t(a, b)
    assert result.statistic == pytest.approx(reference.statistic, rel=1e-12)
    assert result.p == pytest.approx(reference.pvalue, abs=1e-12)


@pytest.mark.parametrize("n", [1, 3, 10, 25])
def test_wilcoxon_is_scipys_exact_one(rng, n):
    a, b = rng.random((2, n))
    reference = stats.wilcoxon(a, b, method="exact")
    result = wilcoxon(a, b)
    assert result.p == pytest.approx(reference.pvalue, abs=1e-12)
    assert result.statistic == reference.statistic


def test_wilcoxon_counts_shared_ranks(rng):
    a = np.array([0.5, 0.3, 0.9, 0.2, 0.7, 0.1, 0.4, 0.6, 0.8])
    b = np.array([0.4, 0.2, 0.5, 0.3, 0.5, 0.1, 0.2, 0.6, 0.4])  # 1 1 4 -1 2 0 2 0 4 tenths
    ranks = np.array([2.0, 2.0, 6.5, -2.0, 4.5, 4.5, 6.5])
    result = wilcoxon(a, b)
    assert result.statistic == 2.0
    assert result.p == pytest.approx(brute(ranks), abs=1e-12)


def test_wilcoxon_of_many_leaves_zeros_out(rng):
    a, b = rng.integers(0, 6, (2, 500)) / 5.0
    d = np.round(a - b, 12)
    reference = stats.wilcoxon(d[d != 0], method="approx")
    result = wilcoxon(a, b)
    assert result.method == "approximate" and result.n == 500
    assert result.p == pytest.approx(reference.pvalue, abs=1e-12)
    assert result.statistic == reference.statistic


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("n", [1, 2, 106])
@pytest.mark.filterwarnings("error")
def test_identical_runs(rng, name, n):
    a = rng.random(n)
    result = paired_test(name, a, a.copy(), rng)
    assert (result.test, result.p, result.statistic, result.difference) == (name, 1.0, 0.0, 0.0)
    noise = a * (1 + 1e-15)
    assert paired_test(name, a, noise, rng).p == 1.0


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.filterwarnings("error")
def test_degenerate(rng, name):
    assert paired_test(name, [0.3], [0.1], rng).p == 1.0
    base = rng.random(60)
    shifted = paired_test(name, base + 0.1, base, rng)
    assert 0.0 <= shifted.p < 1e-4
    balanced = paired_test(name, [0.1, 0.3, 0.0, 0.0], [0.3, 0.1, 0.0, 0.0], rng)
    assert balanced.p == 1.0


@pytest.mark.parametrize("name", TESTS)
@pytest.mark.parametrize("n", [8, 60])
def test_two_sided(name, n):
    a, b = np.random.default_rng(4).random((2, n))
    one = paired_test(name, a, b, np.random.default_rng(1))
    other = paired_test(name, b, a, np.random.default_rng(1))
    assert one.p == other.p and one.difference == -other.difference


def nulls(trials: int, n: int) -> tuple[np.ndarray, np.ndarray]:
    """(trials, n) values of two algorithms that are one; alike on a third of the queries."""
    rng = np.random.default_rng(12)
    a, b = rng.random((2, trials, n)) ** 2
    same = rng.random((trials, n)) < 1 / 3
    return a, np.where(same, a, b)


@pytest.mark.parametrize("n, method", [(24, "exact"), (90, "sampled")])
def test_level_of_randomization(rng, n, method):
    """5 % tests reject 4 to 6 % of true nulls."""
    results = [randomization(a, b, rng, samples=999) for a, b in zip(*nulls(2500, n))]
    assert {result.method for result in results} == {method}
    assert 0.04 <= np.mean([result.p <= 0.05 for result in results]) <= 0.06


@pytest.mark.parametrize("name, n", [("t", 24), ("t", 90), ("wilcoxon", 24), ("wilcoxon", 90)])
def test_level(rng, name, n):
    p = [paired_test(name, a, b, rng).p for a, b in zip(*nulls(2000, n))]
    assert 0.04 <= np.mean(np.array(p) <= 0.05) <= 0.06


def test_bad_input(rng):
    with pytest.raises(DataError, match=r"\(3,\) and \(4,\)"):
        differences(np.zeros(3), np.zeros(4))
    with pytest.raises(DataError):
        differences(np.zeros(0), np.zeros(0))
    with pytest.raises(DataError, match="finite"):
        differences(np.array([0.0, np.nan]), np.zeros(2))
    with pytest.raises(UsageError, match="randomization, t, wilcoxon"):
        paired_test("sign", np.zeros(2), np.zeros(2), rng)
