"""Prefetching: the instruction is there, and nothing is read that could fail or change."""

from __future__ import annotations

import platform

import numba
import numpy as np
import pytest

from letorbench.prefetch import _prefetch_line, prefetch


@pytest.mark.parametrize("shape", [(0, 136), (1, 1), (3, 136)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_rows_are_as_before(shape, dtype, rng):
    rows = rng.random(shape).astype(dtype)
    before = rows.copy()
    prefetch(rows)
    assert np.array_equal(rows, before)


def test_the_compiled_code_has_the_instruction_and_plain_python_does_nothing(rng):
    compiled = numba.njit(prefetch.py_func)  # what a cache holds cannot be inspected
    compiled(rng.random((2, 8), dtype=np.float32))
    (text,) = compiled.inspect_asm().values()
    assert "prefetcht1" in text or platform.machine() not in ("x86_64", "AMD64")
    assert _prefetch_line(0) is None
