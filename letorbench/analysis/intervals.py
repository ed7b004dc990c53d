"""How large a difference is: bootstrap intervals, effect size, wins, ties and losses."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.sign_flips import ROUNDING
from letorbench.analysis.significance import differences
from letorbench.errors import DataError

#: numbers drawn at a time, so that many queries need no more memory than few
BLOCK = 2**20


@dataclass(frozen=True)
class Interval:
    """A mean over queries and where it would fall, were the queries drawn again."""

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
    """The percentile bootstrap interval of the mean of (n,) per-query values, n >= 1.

    The queries are drawn with replacement; the interval is between the (1 - level) / 2 and
    (1 + level) / 2 quantiles of the resamples' means. B. Efron, R. Tibshirani, An Introduction
    to the Bootstrap, 1993, chapter 13. DataError without queries, or for a value that is no
    finite number.
    """
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 1 or not len(values) or not np.isfinite(values).all():
        raise DataError("bootstrap: expected a finite value a query, and one query at least")
    means = np.empty(resamples)
    rows = max(1, BLOCK // len(values))
    for start in range(0, resamples, rows):
        block = means[start : start + rows]
        drawn = rng.integers(0, len(values), (len(block), len(values)))
        block[:] = values.take(drawn).mean(axis=1)
    low, high = np.quantile(means, [(1.0 - level) / 2.0, (1.0 + level) / 2.0])
    return Interval(float(values.mean()), float(low), float(high), level)


def bootstrap_difference(
    a: np.ndarray,
    b: np.ndarray,
    rng: np.random.Generator,
    level: float = 0.95,
    resamples: int = 10_000,
) -> Interval:
    """The same for the mean of a - b: a query is drawn with both its values."""
    return bootstrap(differences(a, b), rng, level, resamples)


def effect_size(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's d_z: the mean of a - b over its standard deviation (n - 1); 0 where all are 0.

    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    The same difference on every query is +-inf; one query has no deviation: nan.
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
