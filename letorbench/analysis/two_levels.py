"""The bootstrap of queries and of seeds: intervals of means that count both.

Queries are drawn again with replacement, together for all algorithms; within each algorithm and
fold, so are the seeds (`seeds.seed_weights`). Where nothing is repeated it is the bootstrap of
queries alone, on the same draws.

References
----------
A. Owen: The Pigeonhole Bootstrap, Annals of Applied Statistics 1(2), 2007: rows and columns of a
crossed table are drawn apart. The variance of such resamples is at least that of the mean; what it
is too large by is the part of single cells, which is divided by both numbers.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from letorbench.analysis.intervals import (
    Interval,
    bootstrap_columns,
    bootstrap_difference,
    query_counts,
)
from letorbench.analysis.seeds import seed_weights


def two_level_means(
    tables: Sequence[np.ndarray], folds: np.ndarray, rng: np.random.Generator, resamples: int
) -> list[np.ndarray]:
    """Resample queries and seeds; return the means of each table, (resamples, n_columns).

    Parameters
    ----------
    tables : sequence of ndarray, shape (n_repeats, n_queries, n_columns)
        The values of each algorithm. A query is drawn in all of them together.
    folds : ndarray, shape (n_queries,)
        The fold of each query. The seeds of different folds are drawn apart.
    rng : Generator
        Where the draws come from.
    resamples : int
        How often they are drawn again.
    """
    n = len(folds)
    found = [np.zeros((resamples, table.shape[2])) for table in tables]
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    for block, counts in query_counts(n, rng, resamples):
        for means, table in zip(found, tables):
            if len(table) == 1:
                means[block] = counts @ table[0] / n
                continue
            for rows in parts:
                weights = seed_weights(len(table), rng, len(counts))
                for weight, values in zip(weights.T, table):
                    means[block] += weight[:, None] * (counts[:, rows] @ values[rows]) / n
    return found


def two_level_columns(
    table: np.ndarray,
    folds: np.ndarray,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> list[Interval]:
    """The interval of the mean of each column of a table (n_repeats, n_queries, n_columns)."""
    if len(table) == 1:
        return bootstrap_columns(table[0], rng, level, resamples)
    (means,) = two_level_means([table], folds, rng, resamples)
    centres = table.mean(axis=(0, 1)).tolist()
    return [
        Interval(centre, low, high, level)
        for centre, (low, high) in zip(centres, quantiles(means, level).T.tolist())
    ]


def two_level_difference(
    a: np.ndarray,
    b: np.ndarray,
    folds: np.ndarray,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """The interval of the mean of a - b.

    a, b: (n_repeats, n_queries), the repeats of each its own; folds: (n_queries,).
    """
    if len(a) == len(b) == 1:
        return bootstrap_difference(a[0], b[0], rng, level, resamples)
    one, other = two_level_means([a[:, :, None], b[:, :, None]], folds, rng, resamples)
    low, high = quantiles(one - other, level)[:, 0].tolist()
    return Interval(float(a.mean() - b.mean()), low, high, level)


def quantiles(means: np.ndarray, level: float) -> np.ndarray:
    """(2, n_columns): the ends of the middle part, of that share, of each column."""
    return np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0], axis=0)
