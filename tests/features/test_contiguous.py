"""Columns in one piece, of any number of documents and features."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.features.contiguous import ROWS, contiguous_columns


@pytest.mark.parametrize("n_docs", [0, 1, ROWS, 2 * ROWS + 7])
@pytest.mark.parametrize(("first", "last"), [(0, None), (2, 4), (4, 9), (5, 5)])
def test_columns_are_copied(rng: np.random.Generator, n_docs: int, first: int, last: int) -> None:
    features = rng.random((n_docs, 5)).astype(np.float32)
    columns = contiguous_columns(features, first, last)
    assert columns.dtype == np.float32 and columns.flags.c_contiguous
    np.testing.assert_array_equal(columns, features[:, first:last].T)
