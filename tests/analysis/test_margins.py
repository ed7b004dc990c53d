"""Tests against a margin: the formulas, and the share of samples that a power promises."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import t, ttest_rel

from letorbench.analysis import margins


def test_one_sided_tests_are_students(rng):
    a, b = rng.normal(0.5, 0.1, (2, 40))
    assert margins.above(a, b) == pytest.approx(ttest_rel(a, b, alternative="greater").pvalue)
    assert margins.below(a, b) == pytest.approx(ttest_rel(a, b, alternative="less").pvalue)
    shifted = ttest_rel(a + 0.03, b, alternative="greater").pvalue
    assert margins.above(a, b, -0.03) == pytest.approx(shifted)


def test_equivalence_is_the_larger_of_two_one_sided_tests(rng):
    a = rng.normal(0.5, 0.1, 40)
    b = a + rng.normal(0.0, 0.01, 40)
    d = a - b
    size = d.std(ddof=1) / np.sqrt(40)
    expected = max(t.sf((d.mean() + 0.02) / size, 39), t.cdf((d.mean() - 0.02) / size, 39))
    assert margins.equivalence(a, b, 0.02) == pytest.approx(expected)
    assert margins.equivalence(a, b, 0.02) < 1e-6 < 0.5 < margins.equivalence(a, b + 0.1, 0.02)


def test_constant_differences_have_no_spread():
    a = np.full(10, 0.5)
    assert margins.above(a + 0.01, a) == 0.0 and margins.above(a - 0.01, a) == 1.0
    assert margins.equivalence(a, a, 0.01) == 0.0
    assert margins.above(a, a) == 1.0
    assert margins.above(a[:1] + 1.0, a[:1]) == 1.0


def test_a_detectable_difference_is_found_in_80_percent_of_samples(rng):
    n, sd, trials = 100, 0.1, 4_000
    draws = rng.normal(0.0, sd, (trials, n))
    base = np.zeros(n)
    sizes = [margins.detectable(d, base) for d in draws[:200]]
    size = float(np.mean(sizes))
    moved = draws + size
    statistic = np.abs(moved.mean(axis=1)) / (moved.std(axis=1, ddof=1) / np.sqrt(n))
    assert (statistic > t.ppf(0.975, n - 1)).mean() == pytest.approx(0.80, abs=0.03)
    assert margins.detectable(draws[0], base, sides=1) < margins.detectable(draws[0], base)
    assert margins.detectable(base[:1], base[:1]) == np.inf
