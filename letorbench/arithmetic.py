"""Functions and products that give the same bits on every processor of the baseline.

NumPy takes its exponentials and logarithms, and BLAS its sums of products, from code for the widest
vectors of the machine at hand, so their last bits differ from machine to machine. These are
compiled as all kernels are, and take the functions of the C library.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from letorbench.jit import kernel


def exp(x: np.ndarray) -> np.ndarray:
    """Return e^x, elementwise, float64."""
    return _each(_exp, x)


def log(x: np.ndarray) -> np.ndarray:
    """Return the natural logarithm, elementwise, float64."""
    return _each(_log, x)


def log2(x: np.ndarray) -> np.ndarray:
    """Return the logarithm to base 2, elementwise, float64."""
    return _each(_log2, x)


def log1p(x: np.ndarray) -> np.ndarray:
    """Return log(1 + x), elementwise, float64."""
    return _each(_log1p, x)


def power(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return x^y, elementwise, float64; x and y are broadcast."""
    x, y = np.broadcast_arrays(x, y)
    out = np.ascontiguousarray(x, dtype=np.float64).copy()
    _power(out.reshape(-1), np.ascontiguousarray(y, dtype=np.float64).reshape(-1))
    return out


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of a_i b_i, a and b of shape (n,).

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    if np.shape(a) != np.shape(b) or np.ndim(a) != 1:
        raise ValueError(f"found shapes {np.shape(a)} and {np.shape(b)}, expected (n,) twice")
    a, b = (np.ascontiguousarray(each, dtype=np.float64) for each in (a, b))
    return float(_dot(a, b))


def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the matrix (n, m) times the vector (m,), (n,) float64."""
    if np.ndim(matrix) != 2 or np.shape(vector) != np.shape(matrix)[1:]:
        raise ValueError(
            f"found shapes {np.shape(matrix)} and {np.shape(vector)}, expected (n, m) and (m,)"
        )
    out = np.empty(len(matrix))
    a, x = (np.ascontiguousarray(each, dtype=np.float64) for each in (matrix, vector))
    _product(a, x, out)
    return out


def norm(a: np.ndarray) -> float:
    """Return the Euclidean length of a, shape (n,)."""
    return math.sqrt(dot(a, a))


def _each(compiled: Callable[[np.ndarray], None], x: np.ndarray) -> np.ndarray:
    out = np.array(x, dtype=np.float64, order="C")
    compiled(out.reshape(-1))
    return out


@kernel()
def _exp(x: np.ndarray) -> None:
    for i in range(len(x)):
        x[i] = np.exp(x[i])


@kernel()
def _log(x: np.ndarray) -> None:
    for i in range(len(x)):
        x[i] = np.log(x[i])


@kernel()
def _log2(x: np.ndarray) -> None:
    for i in range(len(x)):
        x[i] = np.log2(x[i])


@kernel()
def _log1p(x: np.ndarray) -> None:
    for i in range(len(x)):
        x[i] = np.log1p(x[i])


@kernel()
def _power(x: np.ndarray, y: np.ndarray) -> None:
    for i in range(len(x)):
        x[i] = x[i] ** y[i]


@kernel(reorder=True)
def _dot(a: np.ndarray, b: np.ndarray) -> float:
    total = 0.0
    for i in range(len(a)):
        total += a[i] * b[i]
    return total


@kernel()
def _product(matrix: np.ndarray, vector: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(matrix)):
        out[i] = _dot(matrix[i], vector)
