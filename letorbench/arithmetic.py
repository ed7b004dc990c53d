"""Sums of products by kernels, since those of BLAS depend on the number of its threads."""

from __future__ import annotations

import math

import numpy as np

from letorbench.jit import kernel


def exp(x: np.ndarray) -> np.ndarray:
    """Return e^x, elementwise, float64."""
    return np.exp(np.asarray(x, dtype=np.float64))


def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return the sum of a_i b_i, a and b of shape (n,).

    Examples
    --------
    >>> dot(np.array([1.0, 2.0]), np.array([3.0, 4.0]))
    11.0
    """
    return float(product(np.asarray(a)[None], b)[0])


def product(matrix: np.ndarray, vector: np.ndarray) -> np.ndarray:
    """Return the matrix (n, m) times the vector (m,), (n,) float64."""
    out = np.empty(len(matrix))
    a, x = (np.ascontiguousarray(each, dtype=np.float64) for each in (matrix, vector))
    _product(a, x, out)
    return out


def norm(a: np.ndarray) -> float:
    """Return the Euclidean length of a, shape (n,)."""
    return math.sqrt(dot(a, a))


@kernel(reorder=True)
def _product(matrix: np.ndarray, vector: np.ndarray, out: np.ndarray) -> None:
    for i in range(len(matrix)):
        total = 0.0
        for k in range(len(vector)):
            total += matrix[i, k] * vector[k]
        out[i] = total
