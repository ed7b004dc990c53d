"""Compiled sums and functions whose last bits do not depend on the processor.

BLAS, and NumPy's exponential, logarithm, power and hyperbolic tangent, choose their code by the
processor, and each version rounds differently. NumPy's sums do not.
"""

import math
from collections.abc import Callable

import numpy as np

from letorbench.compiled.jit import kernel

#: a pivot below this share of its diagonal element is rounding noise
NOISE = 1e-13


@kernel()
def exp(x: np.ndarray) -> np.ndarray:
    return np.exp(x)


@kernel()
def log(x: np.ndarray) -> np.ndarray:
    return np.log(x)


@kernel()
def log1p(x: np.ndarray) -> np.ndarray:
    return np.log1p(x)


@kernel()
def tanh(x: np.ndarray) -> np.ndarray:
    """Return tanh with an error of at most 2e-16; np.tanh takes twice as long."""
    return 1.0 - 2.0 / (np.exp(2.0 * x) + 1.0)


def sigmoid(t: np.ndarray) -> np.ndarray:
    """Return 1 / (1 + e^-t) without overflow."""
    e = exp(-np.abs(t))
    return np.where(t >= 0.0, 1.0, e) / (1.0 + e)


@kernel()
def power(x: np.ndarray, exponent: np.ndarray) -> np.ndarray:
    return x**exponent


@kernel(reorder=True)
def dot(a: np.ndarray, b: np.ndarray) -> float:
    """Return a . b of vectors (n,)."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


def norm(x: np.ndarray) -> float:
    return math.sqrt(dot(x, x))


@kernel()
def add(factor: float, x: np.ndarray, y: np.ndarray) -> None:
    """y += factor x, for vectors (n,)."""
    for k in range(len(y)):
        y[k] += factor * x[k]


@kernel()
def gram(rows: np.ndarray) -> np.ndarray:
    """Return the sum of x x' over the rows x of (m, n), (n, n) float64."""
    m, n = rows.shape
    sums = np.zeros((n, n))
    for i in range(0, m - m % 4, 4):
        a, b, c, d = rows[i], rows[i + 1], rows[i + 2], rows[i + 3]
        for j in range(n):
            total, aj, bj, cj, dj = sums[j], a[j], b[j], c[j], d[j]
            for k in range(j + 1):
                total[k] += (aj * a[k] + bj * b[k]) + (cj * c[k] + dj * d[k])
    for i in range(m - m % 4, m):
        for j in range(n):
            add(rows[i, j], rows[i, : j + 1], sums[j, : j + 1])
    for j in range(n):
        for k in range(j):
            sums[k, j] = sums[j, k]
    return sums


@kernel()
def cholesky(matrix: np.ndarray) -> np.ndarray:
    """Return the lower triangular L (n, n) with L L' = a symmetric positive definite matrix."""
    n = len(matrix)
    L = np.zeros((n, n))
    for i in range(n):
        for j in range(i):
            L[i, j] = (matrix[i, j] - dot(L[i, :j], L[j, :j])) / L[j, j]
        pivot = matrix[i, i] - dot(L[i, :i], L[i, :i])
        if pivot > NOISE * matrix[i, i]:
            L[i, i] = np.sqrt(pivot)
        else:
            # rounding leaves nothing of this pivot: the unknown is solved as 0
            L[i, :i] = 0.0
            L[i, i] = np.inf
    return L


@kernel()
def forward_solve(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return x with L x = b, for a lower triangular L (n, n)."""
    x = np.empty(len(b))
    for i in range(len(b)):
        x[i] = (b[i] - dot(L[i, :i], x[:i])) / L[i, i]
    return x


@kernel()
def backward_solve(L: np.ndarray, b: np.ndarray) -> np.ndarray:
    """Return x with L' x = b, for a lower triangular L (n, n)."""
    x = b.copy()
    for i in range(len(b) - 1, -1, -1):
        x[i] /= L[i, i]
        add(-x[i], L[i, :i], x[:i])
    return x


def scaled_solver(matrix: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
    """Return b -> x with matrix x = b, for a positive definite matrix scaled to diagonal 1."""
    scale = 1.0 / np.sqrt(np.diag(matrix))
    L = cholesky(matrix * np.outer(scale, scale))
    return lambda b: scale * backward_solve(L, forward_solve(L, scale * b))
