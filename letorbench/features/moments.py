"""Columns of features: means, variances and centred products in float64, and copies."""

from collections.abc import Iterator
from functools import partial

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import run_tasks

#: rows that are converted to float64 at a time
ROWS = 65_536
#: rows that fit into a core's cache
CACHED_ROWS = 1024
#: products are summed in this many parts, whatever the number of threads
SHARES = 8


def row_blocks(n_rows: int, rows: int = ROWS) -> Iterator[slice]:
    """Yield slices of length `rows`, the last one shorter, that cover range(n_rows) in order."""
    for start in range(0, n_rows, rows):
        yield slice(start, min(start + rows, n_rows))


def mean_and_variance(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the variance of each column, (n_features,) float64 each."""
    # Sums of equal float32 numbers are exact in float64 (up to 2^29 of them), so that the variance
    # of a constant column is exactly 0.
    n_rows, n_features = features.shape
    blocks = [features[block] for block in row_blocks(n_rows)]
    sums, squares = np.zeros((2, len(blocks), n_features))
    run_tasks([partial(_add_rows, block, total) for block, total in zip(blocks, sums)])
    mean = sums.sum(axis=0) / max(1, n_rows)
    run_tasks([partial(_add_squares, block, mean, t) for block, t in zip(blocks, squares)])
    return mean, squares.sum(axis=0) / max(1, n_rows)


@kernel()
def _add_rows(features: np.ndarray, total: np.ndarray) -> None:
    for i in range(len(features)):
        for k in range(len(total)):
            total[k] += features[i, k]


@kernel()
def _add_squares(features: np.ndarray, mean: np.ndarray, total: np.ndarray) -> None:
    """Add the squares of the differences from the mean."""
    for i in range(len(features)):
        for k in range(len(total)):
            difference = features[i, k] - mean[k]
            total[k] += difference * difference


def mean_and_scale(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the mean and the standard deviation of each column, with 1 for a deviation of 0."""
    mean, variance = mean_and_variance(features)
    scale = np.sqrt(variance)
    return mean, np.where(scale == 0.0, 1.0, scale)


def centred_products(
    features: np.ndarray, mean: np.ndarray, target: np.ndarray, weights: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the sums over rows of (x - mean)(x - mean)^T and of (x - mean) target.

    They are (n_features, n_features) and (n_features,), weighted by weights (n_rows,) if given.
    """
    width = features.shape[1]

    def share(number: int) -> tuple[np.ndarray, np.ndarray]:
        squares, products = np.zeros((width, width)), np.zeros(width)
        for start in range(number * CACHED_ROWS, len(features), SHARES * CACHED_ROWS):
            block = slice(start, start + CACHED_ROWS)
            x = features[block] - mean
            weighted = x if weights is None else weights[block, None] * x
            squares += x.T @ weighted
            products += weighted.T @ target[block]
        return squares, products

    squares, products = zip(*run_tasks([partial(share, number) for number in range(SHARES)]))
    return np.sum(squares, axis=0), np.sum(products, axis=0)


def contiguous_columns(features: np.ndarray, first: int = 0, last: int | None = None) -> np.ndarray:
    """Return the columns first..last - 1 as rows of a copy, (last - first, n_docs) in C order."""
    chosen = features[:, first:last]
    columns = np.empty(chosen.shape[::-1], features.dtype)
    for start in range(0, len(features), CACHED_ROWS):
        columns[:, start : start + CACHED_ROWS] = chosen[start : start + CACHED_ROWS].T
    return columns
