"""The shared exponentials of a query, and where they are given up."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.jit import longest_query
from letorbench.losses.exponentials import SPAN, exponentials, gather


@pytest.mark.parametrize("span", [0.0, 1.0, SPAN, 1.01 * SPAN, 1e5])
@pytest.mark.parametrize("in_place", [True, False])
def test_exponentials_below_the_span_and_differences_above(span: float, in_place: bool) -> None:
    s = np.array([0.0, 0.25, 1.0, 0.5, 7.0]) * span - 3.0
    s[4] = 99.0  # beyond the first four
    u = s if in_place else np.full(5, -1.0)
    below = s[:4] - s[:4].max()
    rest = u[4]
    assert exponentials(s, 4, u) == pytest.approx(span)
    np.testing.assert_allclose(u[:4], np.exp(below) if span <= SPAN else below)
    assert u[4] == rest


def test_eight_of_the_smallest_exponentials_multiply_to_a_normal_number() -> None:
    assert np.exp(-SPAN) ** 8 > np.finfo(np.float64).tiny


def test_gather_fills_up_with_zeros() -> None:
    s = np.full(5, 9.0)
    gather(np.array([1.0, 2.0, 3.0]), np.array([2, 0]), s)
    assert s.tolist() == [3.0, 1.0, 0.0, 0.0, 0.0]


def test_the_longest_query_of_a_slice() -> None:
    offsets = np.array([0, 3, 3, 10, 12])
    slices = [(0, 4), (0, 2), (3, 4), (1, 2)]
    assert [longest_query(offsets, a, b) for a, b in slices] == [7, 3, 2, 0]
