"""Bootstrap intervals against scipy's and against coverage; effect sizes and counts by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from letorbench.analysis.intervals import (
    Counts,
    bootstrap,
    bootstrap_difference,
    effect_size,
    query_counts,
    win_tie_loss,
)
from scipy import stats

from letorbench.analysis import intervals
from letorbench.errors import DataError


def test_agrees_with_scipy(rng):
    values = rng.beta(0.5, 1.0, 106)
    interval = bootstrap(values, rng, level=0.9, resamples=20_000)
    reference = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, confidence_level=0.9, method="percentile"
    ).confidence_interval
    error = 0.05 * values.std() / math.sqrt(106)  # the Monte-Carlo error of both quantiles
    assert interval.mean == values.mean() and interval.level == 0.9
    assert interval.low == pytest.approx(reference.low, abs=error)
    assert interval.high == pytest.approx(reference.high, abs=error)


def test_enumerated():
    """Three queries have 27 equally likely resamples."""
    values = np.array([0.0, 0.3, 0.9])
    means = np.sort([np.mean([x, y, z]) for x in values for y in values for z in values])
    interval = bootstrap(values, np.random.default_rng(2), level=0.8, resamples=40_000)
    assert interval.low == pytest.approx(means[int(0.1 * 27)])
    assert interval.high == pytest.approx(means[int(0.9 * 27)])


def test_coverage():
    rng = np.random.default_rng(8)
    hits = 0
    for _ in range(600):
        interval = bootstrap(rng.normal(0.4, 0.3, 80), rng, resamples=600)
        hits += interval.low <= 0.4 <= interval.high
    assert 0.92 <= hits / 600 <= 0.97


def test_difference_is_paired(rng):
    """A common shift of queries cancels: the interval is as narrow as the differences are."""
    a = rng.random(200)
    b = a + rng.normal(0.05, 0.01, 200)
    interval = bootstrap_difference(b, a, rng)
    assert interval.mean == pytest.approx((b - a).mean())
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * 0.01 / math.sqrt(200), rel=0.2)


def test_blocks_are_small_and_leave_no_gap(rng, monkeypatch):
    monkeypatch.setattr(intervals, "BLOCK", 70)
    blocks = [(block, counts.shape) for block, counts in query_counts(20, rng, 10)]
    assert blocks == [
        (slice(0, 3), (3, 20)), (slice(3, 6), (3, 20)), (slice(6, 9), (3, 20)),
        (slice(9, 10), (1, 20)),
    ]  # fmt: skip
    interval = bootstrap(rng.random(20) + 5.0, rng, resamples=1001)
    assert 5.0 < interval.low < interval.mean < interval.high < 6.0


def test_degenerate(rng):
    interval = bootstrap(np.full(9, 0.25), rng)
    assert (interval.mean, interval.low, interval.high) == (0.25, 0.25, 0.25)
    same = bootstrap_difference(np.ones(5), np.ones(5), rng)
    assert (same.mean, same.low, same.high) == (0.0, 0.0, 0.0)
    for bad in ([], [np.nan], [[1.0]]):
        with pytest.raises(DataError):
            bootstrap(np.array(bad), rng)


def test_effect_size():
    a, b = np.array([0.5, 0.7, 0.6]), np.array([0.4, 0.4, 0.4])  # .1 .3 .2: mean .2, sd .1
    assert effect_size(a, b) == pytest.approx(2.0)
    assert effect_size(b, a) == pytest.approx(-2.0)
    assert effect_size(a, a) == 0.0
    assert effect_size(a + 0.1, a) == math.inf and effect_size(a, a + 0.1) == -math.inf
    assert math.isnan(effect_size(np.array([0.5]), np.array([0.4])))


def test_effect_size_and_t_agree(rng):
    a, b = rng.random((2, 106))
    t = stats.ttest_rel(a, b).statistic
    assert effect_size(a, b) * math.sqrt(106) == pytest.approx(t, rel=1e-12)


def test_win_tie_loss():
    a = np.array([0.5, 0.1 + 0.2, 0.0, 1.0, 0.2])
    b = np.array([0.4, 0.3, 0.0, 0.9, 0.3])
    assert win_tie_loss(a, b) == Counts(wins=2, ties=2, losses=1)
    assert win_tie_loss(b, a) == Counts(wins=1, ties=2, losses=2)
