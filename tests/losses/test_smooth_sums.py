"""The series against every pair, for spans from nothing to the widest, and where it is used."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit

from letorbench.losses.exponentials import SPAN
from letorbench.losses.far_sums import far_pays
from letorbench.losses.pairwise_logistic import pair_workspace, ranknet_query
from letorbench.losses.smooth_sums import PairBlock, pays, ranknet_blocks, terms


def by_pairs(s, b0, b1, begin, end):
    """Forces and cost of the pairs (b0..b1 - 1) x (begin..end - 1), one by one."""
    difference = s[b0:b1, None] - s[None, begin:end]
    pull = expit(-difference)
    force = np.zeros(len(s))
    force[b0:b1] = pull.sum(axis=1)
    force[begin:end] = -pull.sum(axis=0)
    return force, float(np.logaddexp(0.0, -difference).sum())


@pytest.mark.parametrize("span", [0.0, 1e-3, 1.0, 5.0, 20.0, SPAN])
def test_series_is_the_sum_over_all_pairs(span, rng):
    s = rng.uniform(0.0, span, 700) - 3.0
    s[:2] = s.min(), s.max()
    force = np.zeros(700)
    top, spread = float(s.max()), float(s.max() - s.min())
    cost = ranknet_blocks(s, np.exp(s - top), PairBlock(100, 400, 450, 700), top, spread, force)
    expected, expected_cost = by_pairs(s, 100, 400, 450, 700)
    np.testing.assert_allclose(force, expected, rtol=0.0, atol=1e-10)
    assert cost == pytest.approx(expected_cost, rel=1e-12)


def test_a_long_query_uses_it_and_a_short_one_does_not(rng):
    assert not pays(10, 990, 5.0)
    assert not pays(400, 400, 2.0)
    assert pays(3_000, 3_000, 5.0)
    assert terms(1.0) < terms(10.0) < terms(SPAN)
    s = np.concatenate([rng.normal(1.0, 1.0, 3_000), rng.normal(0.0, 1.0, 3_000)])
    _check_query(s, [0, 2_000, 3_000, 6_000])


@pytest.mark.parametrize("spread", [30.0, 300.0, 1e5, 1e12])
def test_long_blocks_of_scores_far_apart(spread, rng):
    s = rng.normal(0.0, spread, 3_000)
    s[100:2_900] = np.where(rng.random(2_800) < 0.5, s[100:2_900], rng.normal(spread, 5.0, 2_800))
    s[::7] = s[0]
    _check_query(s, [0, 600, 1_400, 3_000])


def test_where_the_far_sums_pay():
    assert far_pays(600, 2_400) and far_pays(800, 1_600)
    assert not far_pays(200, 2_800)


def _check_query(s, starts):
    """Compare a query's forces and cost with the sums over its pairs."""
    workspace = pair_workspace(len(s))
    workspace.s[:] = s
    cost = ranknet_query(workspace, np.array(starts, dtype=np.int64), 0, len(starts) - 1)
    parts = [by_pairs(s, a, b, b, len(s)) for a, b in zip(starts, starts[1:-1])]
    force = sum(part[0] for part in parts)
    np.testing.assert_allclose(workspace.force, force, rtol=1e-11, atol=1e-9)
    assert cost == pytest.approx(sum(part[1] for part in parts), rel=1e-12)
    assert abs(workspace.force.sum()) < 1e-7
