"""Tests against a margin, power and intervals of the folds' mean, against scipy and by draws."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy import stats

from letorbench.papers import margins


def test_tests_against_a_margin_are_students(rng):
    a = rng.normal(0.5, 0.1, 40)
    b = a + rng.normal(0.0, 0.01, 40)
    assert margins.above(a, b) == pytest.approx(stats.ttest_rel(a, b, alternative="greater").pvalue)
    assert margins.below(a, b) == pytest.approx(stats.ttest_rel(a, b, alternative="less").pvalue)
    shifted = stats.ttest_rel(a + 0.03, b, alternative="greater").pvalue
    assert margins.above(a, b, -0.03) == pytest.approx(shifted)
    d = a - b
    size = d.std(ddof=1) / math.sqrt(40)
    sides = stats.t.sf((d.mean() + 0.02) / size, 39), stats.t.cdf((d.mean() - 0.02) / size, 39)
    assert margins.equivalence(a, b, 0.02) == pytest.approx(max(sides))
    flat = np.full(10, 0.5)  # constant differences have no spread
    assert margins.above(flat + 0.01, flat) == 0.0 and margins.above(flat - 0.01, flat) == 1.0
    assert margins.equivalence(flat, flat, 0.01) == 0.0 and margins.above(flat, flat) == 1.0
    assert margins.above(flat[:1] + 1.0, flat[:1]) == 1.0


def test_a_detectable_difference_is_found_in_80_percent_of_samples(rng):
    n, trials, base = 100, 4_000, np.zeros(100)
    draws = rng.normal(0.0, 0.1, (trials, n))
    size = float(np.mean([margins.detectable(d, base) for d in draws[:200]]))
    moved = draws + size
    statistic = np.abs(moved.mean(axis=1)) / (moved.std(axis=1, ddof=1) / math.sqrt(n))
    assert (statistic > stats.t.ppf(0.975, n - 1)).mean() == pytest.approx(0.80, abs=0.03)
    assert margins.detectable(draws[0], base, sides=1) < margins.detectable(draws[0], base)
    assert margins.detectable(base[:1], base[:1]) == math.inf
