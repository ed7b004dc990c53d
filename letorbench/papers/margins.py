"""Statistics that claims of papers are judged by: margins, power, intervals of the folds' mean."""

from __future__ import annotations

import math

import numpy as np

from letorbench.analysis.paired import ROUNDING, Interval, differences, intervals, resampled_means
from letorbench.results.per_query import mean_of_folds

#: how often the queries of each fold are drawn again
RESAMPLES = 2_000


def above(a: np.ndarray, b: np.ndarray, margin: float = 0.0) -> float:
    """p of Student's one-sided paired test that the mean of a - b is above `margin`.

    A margin below zero makes it the test of non-inferiority: a is at most so far below b.
    """
    from scipy.stats import ttest_1samp

    d = differences(a, b) - margin
    if np.ptp(d) <= ROUNDING * max(float(np.abs(d).max()), abs(margin)):
        return 0.0 if len(d) > 1 and d[0] > 0.0 else 1.0
    return float(ttest_1samp(d, 0.0, alternative="greater").pvalue)


def below(a: np.ndarray, b: np.ndarray, margin: float = 0.0) -> float:
    """p of Student's one-sided paired test that the mean of a - b is below `margin`."""
    return above(b, a, -margin)


def equivalence(a: np.ndarray, b: np.ndarray, margin: float) -> float:
    """p of TOST: the larger p of the two tests that |mean of a - b| is below `margin`.

    References
    ----------
    D. Schuirmann, A comparison of the two one-sided tests procedure and the power approach,
    Journal of Pharmacokinetics and Biopharmaceutics 15, 1987.
    """
    return max(above(a, b, -margin), below(a, b, margin))


def detectable(a: np.ndarray, b: np.ndarray, sides: int = 2) -> float:
    """The smallest mean difference that so many queries show in 80 % of samples.

    (t_{1 - 0.05/sides} + t_{0.8}) sd / sqrt(n) with the differences' standard deviation, at a
    level of 5 %. Without a second query nothing can be shown, and it is infinite.

    References
    ----------
    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    from scipy.stats import t as student

    d = differences(a, b)
    if len(d) < 2:
        return math.inf
    quantiles = student.ppf(1.0 - 0.05 / sides, len(d) - 1) + student.ppf(0.80, len(d) - 1)
    return float(quantiles * d.std(ddof=1) / math.sqrt(len(d)))


def bootstrap_folds(
    values: np.ndarray, folds: np.ndarray, seed: int = 0, resamples: int = RESAMPLES
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
    return intervals([mean_of_folds(column, folds) for column in values.T], means)


def bootstrap_ratio(
    upper: np.ndarray, lower: np.ndarray, folds: np.ndarray, seed: int = 0
) -> Interval:
    """mean(upper) / mean(lower) - 1 with its 95 % interval, the queries drawn in pairs.

    upper, lower, folds: (n_queries,). The means are of the folds' means. Where mean(lower) is
    not positive the interval is without bounds.
    """
    both = _fold_resamples(np.column_stack([upper, lower]), folds, seed, RESAMPLES)
    positive = both[:, 1] > 0.0
    base = mean_of_folds(lower, folds)
    if base <= 0.0 or not positive.any():
        return Interval(0.0, -math.inf, math.inf)
    ratios = both[positive, :1] / both[positive, 1:] - 1.0
    return intervals([mean_of_folds(upper, folds) / base - 1.0], ratios)[0]


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
