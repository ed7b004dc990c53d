"""Statistics over several data sets: winning numbers, average ranks, Friedman and Nemenyi.

A table of values is (n_datasets, n_algorithms) float64, of one measure, where more is better.
Values that differ only by rounding are ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from letorbench.errors import UsageError

#: values are rounded to so many decimals before they are compared
DECIMALS = 12


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all algorithms rank alike: chi-squared with k - 1 degrees, and p."""

    statistic: float
    p: float
    n_datasets: int
    n_algorithms: int


def winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) int64: how many (data set, other algorithm) pairs each one beats strictly.

    A missing value (NaN) beats nothing and is not beaten.

    References
    ----------
    T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR, Information Retrieval 13(4), 2010.
    """
    values = _table(values)
    return (values[:, :, None] > values[:, None, :]).sum(axis=(0, 2))


def ideal_winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) int64: the pairs an algorithm could beat, both of which have a value."""
    there = ~np.isnan(_table(values))
    others = there.sum(axis=1, keepdims=True) - 1
    return (there * others).sum(axis=0)


def normalised_winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) float64: the share of its ideal winning number that each one reaches.

    NaN where an algorithm shares no data set with another.

    References
    ----------
    N. Tax, S. Bockting, D. Hiemstra: A Cross-Benchmark Comparison of 87 Learning to Rank
    Methods, Information Processing and Management 51(6), 2015.
    """
    ideal = ideal_winning_numbers(values)
    return np.where(ideal > 0, winning_numbers(values) / np.maximum(ideal, 1), math.nan)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) float64: mean rank over the data sets, 1 the best, ties averaged.

    Raises
    ------
    UsageError
        Where a value is missing: ranks among different rivals do not compare.
    """
    return ranks_of(_complete(values)).mean(axis=0)


def ranks_of(values: np.ndarray) -> np.ndarray:
    """(n_rows, n_algorithms) float64: the ranks in each row, 1 the best, ties averaged."""
    from scipy.stats import rankdata

    return rankdata(-_table(values), axis=1)


def friedman(values: np.ndarray) -> Friedman:
    """Friedman's test with its correction for ties (scipy), p = 1 where all are always tied.

    Raises
    ------
    UsageError
        For fewer than two data sets or three algorithms.

    References
    ----------
    J. Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006,
    section 3.2.2.
    """
    values = _complete(values)
    n, k = values.shape
    if n < 2 or k < 3:
        raise UsageError(
            f"Friedman's test: found {n} data sets and {k} algorithms, expected at least 2 and 3"
        )
    if (values == values[:, :1]).all():
        return Friedman(0.0, 1.0, n, k)
    from scipy.stats import friedmanchisquare

    result = friedmanchisquare(*values.T)
    return Friedman(float(result.statistic), float(result.pvalue), n, k)


def critical_difference(n_algorithms: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference: average ranks that differ by it differ significantly.

    It is q sqrt(k (k + 1) / (6 N)), where q is the upper alpha point of the studentised range
    divided by sqrt(2) (Demsar, 2006, section 3.2.2 and table 5a).
    """
    if n_algorithms < 2 or n_datasets < 1:
        raise UsageError(
            f"critical difference: found {n_algorithms} algorithms on {n_datasets} data sets, "
            "expected at least 2 on 1"
        )
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - alpha, n_algorithms, math.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6.0 * n_datasets))


def tied_groups(ranks: np.ndarray, difference: float) -> tuple[tuple[int, ...], ...]:
    """The largest groups of algorithms whose ranks all differ by less than the difference.

    Parameters
    ----------
    ranks : ndarray, shape (n_algorithms,)
        Average ranks.
    difference : float
        The critical difference.

    Returns
    -------
    tuple of tuple of int
        Each group holds the indices of two or more algorithms in the order of their ranks. The
        groups are in the order of their best rank, and no group is part of another.

    Examples
    --------
    >>> tied_groups(np.array([1.0, 1.5, 3.0]), 1.0)
    ((0, 1),)
    """
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    last = 0
    for start, first in enumerate(order):
        near = ranks[order] - ranks[first] < difference
        end = int(np.flatnonzero(near)[-1]) + 1
        if end - start > 1 and end > last:
            groups.append(tuple(int(i) for i in order[start:end]))
            last = end
    return tuple(groups)


def _table(values: np.ndarray) -> np.ndarray:
    values = np.asarray(values, dtype=np.float64)
    if values.ndim != 2:
        raise ValueError(f"found shape {values.shape}, expected (n_datasets, n_algorithms)")
    return np.round(values, DECIMALS)


def _complete(values: np.ndarray) -> np.ndarray:
    values = _table(values)
    if np.isnan(values).any() or not values.size:
        raise UsageError(
            "average ranks need a value of every algorithm on every data set: "
            f"found {int(np.isnan(values).sum())} missing of {values.size}"
        )
    return values
