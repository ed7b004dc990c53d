"""Bootstrap intervals of means: queries are drawn again, and so are the seeds where there are any.

Queries are drawn with replacement, together for all algorithms; within each algorithm and fold, so
are the seeds (`seeds.seed_weights`). Where nothing is repeated queries alone are drawn.

References
----------
B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13.
A. Owen: The Pigeonhole Bootstrap, Annals of Applied Statistics 1(2), 2007: rows and columns of a
crossed table are drawn apart. The variance of such resamples is at least that of the mean; what it
is too large by is the part of single cells, which is divided by both numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.paired import differences
from letorbench.analysis.seeds import seed_weights

#: draws that are in memory at a time, so that many queries need no more memory than few
BLOCK = 2**20
#: how often the queries are drawn again
RESAMPLES = 10_000


@dataclass(frozen=True)
class Interval:
    """A mean over queries, and the 95 % interval of it when the queries are drawn again."""

    mean: float
    low: float
    high: float


def bootstrap_columns(
    table: np.ndarray, folds: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES
) -> list[Interval]:
    """The interval of the mean of each column of a table, all on the same draws.

    Parameters
    ----------
    table : ndarray, shape (n_repeats, n_queries, n_columns)
        Finite values.
    folds : ndarray, shape (n_queries,)
        The fold of each query. The seeds of different folds are drawn apart.
    rng : Generator
        Where the draws come from.
    resamples : int
        How often the queries are drawn again.
    """
    (means,) = resampled_means([table], folds, rng, resamples)
    return intervals([float(column.mean()) for column in np.moveaxis(table, 2, 0)], means)


def bootstrap_difference(
    a: np.ndarray,
    b: np.ndarray,
    folds: np.ndarray,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Interval:
    """The interval of the mean of a - b: a query is drawn with both its values.

    a, b: (n_repeats, n_queries), the repeats of each its own; folds: (n_queries,).
    """
    if len(a) == len(b) == 1:
        a = differences(a[0], b[0])[None]
        return bootstrap_columns(a[:, :, None], folds, rng, resamples)[0]
    one, other = resampled_means([a[:, :, None], b[:, :, None]], folds, rng, resamples)
    return intervals([float(a.mean() - b.mean())], one - other)[0]


def resampled_means(
    tables: Sequence[np.ndarray], folds: np.ndarray, rng: np.random.Generator, resamples: int
) -> list[np.ndarray]:
    """Resample queries and seeds; return the means of each table, (resamples, n_columns).

    tables: of each algorithm (n_repeats, n_queries, n_columns); a query is drawn in all of them
    together.
    """
    n = len(folds)
    result = [np.zeros((resamples, table.shape[2])) for table in tables]
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    for block, counts in _query_counts(n, rng, resamples):
        for means, table in zip(result, tables):
            if len(table) == 1:
                means[block] = counts @ table[0] / n
                continue
            for rows in parts:
                weights = seed_weights(len(table), rng, len(counts))
                for weight, values in zip(weights.T, table):
                    means[block] += weight[:, None] * (counts[:, rows] @ values[rows]) / n
    return result


def _query_counts(
    n: int, rng: np.random.Generator, resamples: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the resamples of a block, and (block, n) how often each of n queries is drawn."""
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(n, size=(size, n))
        drawn += n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        yield slice(start, start + size), counts


def intervals(centres: Sequence[float], means: np.ndarray) -> list[Interval]:
    """The middle 95 % of each column of resampled means (resamples, n_columns)."""
    tails = [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0]
    lows, highs = np.quantile(means, tails, axis=0).tolist()
    return [Interval(*each) for each in zip(centres, lows, highs)]
