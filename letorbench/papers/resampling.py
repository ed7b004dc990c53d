"""Intervals of the mean of the folds' means, the queries drawn anew within each fold.

`letorbench.analysis.intervals` draws them from all folds together, for the pooled mean.
"""

from __future__ import annotations

import numpy as np

RESAMPLES = 2_000
#: resampled numbers in memory at a time
BLOCK = 4_000_000


def mean(values: np.ndarray, folds: np.ndarray) -> float:
    """The mean of the folds' means, LETOR's way, of values (n_queries,)."""
    return float(np.mean([values[folds == fold].mean() for fold in np.unique(folds)]))


def interval(values: np.ndarray, folds: np.ndarray, seed: int = 0) -> tuple[float, float, float]:
    """The mean of the folds' means and its 95 % percentile bootstrap interval."""
    return intervals(values[:, None], folds, seed)[0]


def intervals(
    values: np.ndarray, folds: np.ndarray, seed: int = 0
) -> list[tuple[float, float, float]]:
    """`interval` of each column of values (n_queries, n_columns), on the same draws."""
    means = _resampled(values, folds, seed)
    lows, highs = np.quantile(means, [0.025, 0.975], axis=0).tolist()
    centres = [mean(column, folds) for column in values.T]
    return list(zip(centres, lows, highs))


def relative_interval(
    upper: np.ndarray, lower: np.ndarray, folds: np.ndarray, seed: int = 0
) -> tuple[float, float, float]:
    """mean(upper) / mean(lower) - 1 with its 95 % interval, the queries drawn in pairs."""
    both = _resampled(np.column_stack([upper, lower]), folds, seed)
    positive = both[:, 1] > 0.0
    ratios = both[positive, 0] / both[positive, 1] - 1.0
    below = mean(lower, folds)
    if below <= 0.0 or not positive.any():
        return 0.0, -np.inf, np.inf
    low, high = np.quantile(ratios, [0.025, 0.975])
    return mean(upper, folds) / below - 1.0, float(low), float(high)


def _resampled(values: np.ndarray, folds: np.ndarray, seed: int) -> np.ndarray:
    """(RESAMPLES, n_columns) means of the folds' means, the queries drawn anew in each fold."""
    rng = np.random.default_rng(seed)
    numbers = np.unique(folds)
    total = np.zeros((RESAMPLES, values.shape[1]))
    for fold in numbers:
        own = values[folds == fold]
        step = max(1, BLOCK // len(own))
        for start in range(0, RESAMPLES, step):
            n = min(step, RESAMPLES - start)
            drawn = rng.integers(len(own), size=(n, len(own)))
            drawn += len(own) * np.arange(n)[:, None]
            counts = np.bincount(drawn.ravel(), minlength=n * len(own)).reshape(n, len(own))
            total[start : start + n] += counts @ own / len(own)
    return total / len(numbers)
