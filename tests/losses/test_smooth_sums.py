"""The series against every pair, for spans from nothing to the widest, and where it is used."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.losses.exponentials import SPAN
from letorbench.losses.pairwise_logistic import PairWorkspace, ranknet_query
from letorbench.losses.smooth_sums import PairBlock, pays, ranknet_blocks, terms


def by_pairs(s, b0, b1, begin, end):
    """Forces and cost of the pairs (b0..b1 - 1) x (begin..end - 1), one by one."""
    difference = s[b0:b1, None] - s[None, begin:end]
    pull = 1.0 / (1.0 + np.exp(difference))
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
    assert not pays(75, 75, 2.0)
    assert pays(2_000, 2_000, 5.0)
    assert terms(1.0) < terms(10.0) < terms(SPAN)
    s = np.concatenate([rng.normal(1.0, 1.0, 1_500), rng.normal(0.0, 1.0, 2_500)])
    starts = np.array([0, 500, 1_500, 4_000], dtype=np.int64)
    force, u, product = np.empty(4_000), np.empty(4_000), np.empty(4_000)
    cost = ranknet_query(PairWorkspace(s, u, product, force), starts, 0, 3)
    parts = [by_pairs(s, 0, 500, 500, 4_000), by_pairs(s, 500, 1_500, 1_500, 4_000)]
    np.testing.assert_allclose(force, parts[0][0] + parts[1][0], rtol=1e-11, atol=1e-10)
    assert cost == pytest.approx(parts[0][1] + parts[1][1], rel=1e-12)
    assert abs(force.sum()) < 1e-8
