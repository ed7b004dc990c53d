"""Functions and products against NumPy's, to the last few bits."""

from __future__ import annotations

import math
import os
import subprocess
import sys

import numpy as np
import pytest

from letorbench import arithmetic

#: what stands for a processor without AVX-512
OTHER = {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR", "OPENBLAS_CORETYPE": "Haswell"}

DIGEST = """
import hashlib, numpy as np
from letorbench.arithmetic import dot, exp, log, log1p, log2, power, product
x = np.random.default_rng(1).random((37, 1013)) + 0.1
found = (exp(x), log(x), log2(x), log1p(x), power(x, 2.3), product(x, x[0]))
found += (np.array(dot(x[0], x[1])),)
print(hashlib.sha256(b"".join(each.tobytes() for each in found)).hexdigest())
"""


@pytest.mark.parametrize("name", ["exp", "log", "log2", "log1p"])
def test_functions_agree_with_numpy(name: str, rng: np.random.Generator) -> None:
    x = rng.exponential(5.0, (7, 13))[:, ::2]
    before = x.copy()
    found = getattr(arithmetic, name)(x)
    np.testing.assert_allclose(found, getattr(np, name)(x), rtol=1e-15)
    np.testing.assert_array_equal(x, before)
    assert getattr(arithmetic, name)(np.array([1, 2])).dtype == np.float64


@pytest.mark.parametrize("name", ["log", "log2"])
def test_logarithms_are_those_of_the_c_library(name: str) -> None:
    """Discounts are made of them, and the official tools print 15 digits."""
    ranks = np.arange(1.0, 10_000.0)
    expected = [getattr(math, name)(rank) for rank in ranks.tolist()]
    np.testing.assert_array_equal(getattr(arithmetic, name)(ranks), expected)


def test_power_agrees_with_numpy(rng: np.random.Generator) -> None:
    x, y = rng.random((5, 4)), rng.normal(size=4)
    np.testing.assert_allclose(arithmetic.power(x, y), x**y, rtol=1e-14)
    np.testing.assert_array_equal(arithmetic.power(np.array([0.0, 4.0]), 0.5), [0.0, 2.0])


def test_products_agree_with_numpy(rng: np.random.Generator) -> None:
    A, b = rng.normal(size=(6, 41)), rng.normal(size=41)
    assert arithmetic.dot(A[2], b) == pytest.approx(A[2] @ b, rel=1e-13)
    assert arithmetic.norm(b) == pytest.approx(np.linalg.norm(b), rel=1e-14)
    np.testing.assert_allclose(arithmetic.product(A, b), A @ b, rtol=1e-12)
    for wrong in (lambda: arithmetic.dot(A, b), lambda: arithmetic.dot(b, b[1:])):
        with pytest.raises(ValueError, match="expected"):
            wrong()
    with pytest.raises(ValueError, match="expected"):
        arithmetic.product(A, b[1:])


def test_another_processor_gives_the_same_bits() -> None:
    digests = {
        subprocess.run(
            [sys.executable, "-c", DIGEST], env=os.environ | other,
            capture_output=True, text=True, check=True,
        ).stdout
        for other in ({}, OTHER)
    }  # fmt: skip
    assert len(digests) == 1
