"""Active pairs by trees against loops over every pair; the tree against cumulative sums."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers import margin_by_trees as trees


def loops(
    scores: np.ndarray, labels: np.ndarray, offsets: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Active pairs as upper, as lower, and the active pairs' Laplacian matrix."""
    n = len(scores)
    query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
    active = (
        (query[:, None] == query)
        & (labels[:, None] > labels)
        & (scores[:, None] < scores[None, :] + 1.0)
    )
    both = (active | active.T).astype(float)
    matrix = np.diag(both.sum(axis=1)) - both
    assert matrix.shape == (n, n)
    return active.sum(axis=1), active.sum(axis=0), matrix


def sweeps(
    scores: np.ndarray, levels: np.ndarray, offsets: np.ndarray, x: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    last = len(offsets) - 1
    layout = trees.Layout(levels, int(levels.max()) + 1, offsets)
    counts = trees.Counts(scores, *np.full((3, len(scores)), -1, dtype=np.int64))
    product = np.full(len(scores), np.nan)
    trees.count(layout, counts, 0, last)
    trees.laplacian(x, layout, counts, 0, last, product)
    return counts.upper, counts.lower, product


@pytest.mark.parametrize("n_levels", [1, 2, 3, 5, 40])
@pytest.mark.parametrize("spread", [0.0, 0.5, 2.0, 50.0])
def test_sweeps_match_pair_loops(rng: np.random.Generator, n_levels: int, spread: float) -> None:
    offsets = np.cumsum([0, 1, 30, 0, 2, 57, 10]).astype(np.int64)
    levels = rng.integers(0, n_levels, 100).astype(np.int64)
    levels[90:] = levels[90]  # a query of one label
    scores, x = spread * rng.normal(size=100), rng.normal(size=100) + 1e3
    upper, lower, product = sweeps(scores, levels, offsets, x)
    expected_upper, expected_lower, matrix = loops(scores, levels, offsets)
    assert np.array_equal(upper, expected_upper)
    assert np.array_equal(lower, expected_lower)
    assert np.allclose(product, matrix @ (x - 1e3), rtol=0, atol=1e-9)


def test_ties_and_pairs_on_the_margin(rng: np.random.Generator) -> None:
    """Scores on a grid of halves: many ties, many pairs exactly one apart (not active)."""
    offsets = np.array([0, 40, 80], dtype=np.int64)
    levels = rng.integers(0, 4, 80).astype(np.int64)
    scores, x = rng.integers(-4, 5, 80) / 2.0, rng.normal(size=80)
    upper, lower, product = sweeps(scores, levels, offsets, x)
    expected_upper, expected_lower, matrix = loops(scores, levels, offsets)
    assert np.array_equal(upper, expected_upper)
    assert np.array_equal(lower, expected_lower)
    assert np.allclose(product, matrix @ x, rtol=0, atol=1e-12)


def test_sort_orders_each_query_alone(rng: np.random.Generator) -> None:
    offsets = np.array([0, 5, 5, 12], dtype=np.int64)
    scores, order = rng.normal(size=12), np.empty(12, dtype=np.int64)
    trees.sort(scores, offsets, 0, 3, order)
    assert np.array_equal(order[:5], np.argsort(scores[:5]))
    assert np.array_equal(order[5:], 5 + np.argsort(scores[5:]))


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_sums_while_numbers_are_added_to(rng: np.random.Generator, size: int, dtype: type) -> None:
    tree, numbers = np.zeros(size + 1, dtype), np.zeros(size, dtype)
    for place in rng.integers(0, size, 60):
        value = dtype(rng.integers(-9, 10))
        numbers[place] += value
        trees.add(tree, place + 1, value)
        sums = [trees.sum_of_first(tree, k) for k in range(size + 1)]
        assert sums == [0, *np.cumsum(numbers)]
