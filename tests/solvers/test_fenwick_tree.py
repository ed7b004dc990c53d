"""The prefix sums against numpy's, after every addition."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.solvers.margin_by_trees import add, sum_of_first


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 33])
@pytest.mark.parametrize("dtype", [np.int64, np.float64])
def test_sums_while_numbers_are_added_to(rng: np.random.Generator, size: int, dtype: type) -> None:
    tree, numbers = np.zeros(size + 1, dtype), np.zeros(size, dtype)
    for place in rng.integers(0, size, 60):
        value = dtype(rng.integers(-9, 10))
        numbers[place] += value
        add(tree, place + 1, value)
        sums = [sum_of_first(tree, k) for k in range(size + 1)]
        assert sums == [0, *np.cumsum(numbers)]
