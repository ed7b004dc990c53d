"""How large a difference is: bootstrap intervals, effect size, wins, ties and losses."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.sign_flips import ROUNDING
from letorbench.analysis.significance import differences
from letorbench.errors import DataError
from letorbench.results.per_query import mean_of_folds

#: draws that are in memory at a time, so that many queries need no more memory than few
BLOCK = 2**20
#: how often the queries are drawn again for an interval of the folds' mean
FOLD_RESAMPLES = 2_000


@dataclass(frozen=True)
class Interval:
    """A mean over queries, and the interval that it falls into when the queries are drawn again."""

    mean: float
    low: float
    high: float
    level: float


@dataclass(frozen=True)
class Counts:
    """On how many queries a is better than b, equal to it, and worse."""

    wins: int
    ties: int
    losses: int


def bootstrap(
    values: np.ndarray, rng: np.random.Generator, level: float = 0.95, resamples: int = 10_000
) -> Interval:
    """The percentile bootstrap interval of a mean over queries.

    Parameters
    ----------
    values : ndarray, shape (n_queries,)
        Finite values, one or more.
    rng : Generator
        Where the draws come from.
    level : float
        The interval lies between the (1 - level) / 2 and (1 + level) / 2 quantiles of the
        resamples' means.
    resamples : int
        How often the queries are drawn again, with replacement.

    Raises
    ------
    DataError
        Without queries, or for a value that is not a finite number.

    References
    ----------
    B. Efron, R. Tibshirani, An Introduction to the Bootstrap, 1993, chapter 13.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1:
        raise DataError(f"bootstrap: found shape {values.shape}, expected one value a query")
    return bootstrap_columns(values[:, None], rng, level, resamples)[0]


def bootstrap_columns(
    values: np.ndarray, rng: np.random.Generator, level: float = 0.95, resamples: int = 10_000
) -> list[Interval]:
    """`bootstrap` of each column of values (n_queries, n_columns), all on the same draws."""
    values = np.asarray(values, dtype=np.float64)
    if not len(values) or not np.isfinite(values).all():
        raise DataError("bootstrap: expected a finite value a query, and one query at least")
    means = resampled_means(values, rng, resamples)
    tails = [(1.0 - level) / 2.0, (1.0 + level) / 2.0]
    lows, highs = np.quantile(means, tails, axis=0).tolist()
    centres = [float(column.mean()) for column in values.T]
    return [Interval(*found, level) for found in zip(centres, lows, highs)]


def bootstrap_difference(
    a: np.ndarray,
    b: np.ndarray,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """`bootstrap` of the mean of a - b: a query is drawn with both its values."""
    return bootstrap(differences(a, b), rng, level, resamples)


def resampled_means(values: np.ndarray, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """(resamples, n_columns) means of values (n_queries, n_columns), the queries drawn anew."""
    means = np.empty((resamples, values.shape[1]))
    for block, counts in query_counts(len(values), rng, resamples):
        means[block] = counts @ values / len(values)
    return means


def query_counts(
    n: int, rng: np.random.Generator, resamples: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield how often each of n queries is drawn in n draws with replacement, block by block.

    Yields
    ------
    block : slice
        Which of the resamples they are.
    counts : ndarray, shape (block, n)
    """
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(n, size=(size, n))
        drawn += n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        yield slice(start, start + size), counts


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
    lows, highs = np.quantile(means, [0.025, 0.975], axis=0).tolist()
    centres = [mean_of_folds(column, folds) for column in values.T]
    return [Interval(*found, 0.95) for found in zip(centres, lows, highs)]


def bootstrap_ratio(
    upper: np.ndarray, lower: np.ndarray, folds: np.ndarray, seed: int = 0
) -> Interval:
    """mean(upper) / mean(lower) - 1 with its 95 % interval, the queries drawn in pairs.

    upper, lower, folds: (n_queries,). The means are of the folds' means. Where mean(lower) is
    not positive the interval is without bounds.
    """
    both = _fold_resamples(np.column_stack([upper, lower]), folds, seed, FOLD_RESAMPLES)
    positive = both[:, 1] > 0.0
    below = mean_of_folds(lower, folds)
    if below <= 0.0 or not positive.any():
        return Interval(0.0, -math.inf, math.inf, 0.95)
    ratios = both[positive, 0] / both[positive, 1] - 1.0
    low, high = np.quantile(ratios, [0.025, 0.975]).tolist()
    return Interval(mean_of_folds(upper, folds) / below - 1.0, low, high, 0.95)


def _fold_resamples(values: np.ndarray, folds: np.ndarray, seed: int, resamples: int) -> np.ndarray:
    """(resamples, n_columns) means of the folds' means, the queries drawn anew in each fold."""
    rng = np.random.default_rng(seed)
    numbers = np.unique(folds)
    total = np.zeros((resamples, values.shape[1]))
    for fold in numbers:
        total += resampled_means(values[folds == fold], rng, resamples)
    return total / len(numbers)


def effect_size(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's d_z: the mean of a - b over its standard deviation (n - 1).

    It is 0 where a and b are equal everywhere, +-inf where they differ by the same amount on
    every query, and nan for one query, which has no deviation.

    References
    ----------
    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    d = differences(a, b)
    if not d.any():
        return 0.0
    if len(d) == 1:
        return math.nan
    if np.ptp(d) <= ROUNDING * np.abs(d).max():
        return math.copysign(math.inf, d[0])
    return float(d.mean() / d.std(ddof=1))


def win_tie_loss(a: np.ndarray, b: np.ndarray) -> Counts:
    """The queries where a is better, equal (up to rounding) and worse; more is better."""
    d = differences(a, b)
    wins, losses = int(np.count_nonzero(d > 0.0)), int(np.count_nonzero(d < 0.0))
    return Counts(wins, len(d) - wins - losses, losses)
