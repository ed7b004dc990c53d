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

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.paired import differences
from letorbench.analysis.seeds import seed_weights
from letorbench.results.per_query import mean_of_folds

#: draws that are in memory at a time, so that many queries need no more memory than few
BLOCK = 2**20
#: how often the queries are drawn again: for an interval, and for one of the folds' mean
RESAMPLES, FOLD_RESAMPLES = 10_000, 2_000


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
    return _intervals([float(column.mean()) for column in np.moveaxis(table, 2, 0)], means)


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
    return _intervals([float(a.mean() - b.mean())], one - other)[0]


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


def bootstrap_folds(
    values: np.ndarray, folds: np.ndarray, seed: int = 0, resamples: int = FOLD_RESAMPLES
) -> list[Interval]:
    """95 % intervals of the mean of the folds' means, the queries drawn anew within each fold.

    Parameters
    ----------
    values : ndarray, shape (n_queries, n_columns)
        A column for each interval; all are made from the same draws.
    folds : ndarray, shape (n_queries,)
        The fold of each query.
    """
    means = _fold_resamples(values, folds, seed, resamples)
    return _intervals([mean_of_folds(column, folds) for column in values.T], means)


def bootstrap_ratio(
    upper: np.ndarray, lower: np.ndarray, folds: np.ndarray, seed: int = 0
) -> Interval:
    """mean(upper) / mean(lower) - 1 with its 95 % interval, the queries drawn in pairs.

    upper, lower, folds: (n_queries,). The means are of the folds' means. Where mean(lower) is
    not positive the interval is without bounds.
    """
    both = _fold_resamples(np.column_stack([upper, lower]), folds, seed, FOLD_RESAMPLES)
    positive = both[:, 1] > 0.0
    base = mean_of_folds(lower, folds)
    if base <= 0.0 or not positive.any():
        return Interval(0.0, -math.inf, math.inf)
    ratios = both[positive, :1] / both[positive, 1:] - 1.0
    return _intervals([mean_of_folds(upper, folds) / base - 1.0], ratios)[0]


def _fold_resamples(values: np.ndarray, folds: np.ndarray, seed: int, resamples: int) -> np.ndarray:
    """(resamples, n_columns) means of the folds' means, the queries drawn anew in each fold."""
    rng = np.random.default_rng(seed)
    numbers = np.unique(folds)
    total = np.zeros((resamples, values.shape[1]))
    for fold in numbers:
        part = values[folds == fold]
        (means,) = resampled_means([part[None]], np.zeros(len(part)), rng, resamples)
        total += means
    return total / len(numbers)


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


def _intervals(centres: Sequence[float], means: np.ndarray) -> list[Interval]:
    """The middle 95 % of each column of resampled means (resamples, n_columns)."""
    tails = [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0]
    lows, highs = np.quantile(means, tails, axis=0).tolist()
    return [Interval(*each) for each in zip(centres, lows, highs)]
