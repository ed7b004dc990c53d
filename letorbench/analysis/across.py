"""Algorithms over several data sets: winning numbers, average ranks, Friedman and Nemenyi.

A table of values is (n_datasets, n_algorithms) float64, of one measure, more being better.
Values that differ only in rounding are ties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from letorbench.errors import UsageError

#: decimals from which on values are rounding
DECIMALS = 12


@dataclass(frozen=True)
class Friedman:
    """Friedman's test that all algorithms rank alike: chi-squared with k - 1 degrees, and p."""

    statistic: float
    p: float
    n_datasets: int
    n_algorithms: int


def winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) int64: the (data set, other algorithm) pairs that each one beats, strictly.

    T. Qin, T.-Y. Liu, J. Xu, H. Li: LETOR, Information Retrieval 13(4), 2010.
    A missing value (NaN) beats nothing and is beaten by nothing.
    """
    values = _table(values)
    return (values[:, :, None] > values[:, None, :]).sum(axis=(0, 2))


def ideal_winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) int64: the pairs an algorithm could beat: both have a value there."""
    there = ~np.isnan(_table(values))
    others = there.sum(axis=1, keepdims=True) - 1
    return (there * others).sum(axis=0)


def normalised_winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) float64: the share of its ideal winning number that each one reaches.

    N. Tax, S. Bockting, D. Hiemstra: A Cross-Benchmark Comparison of 87 Learning to Rank
    Methods, Information Processing and Management 51(6), 2015. NaN where an algorithm meets
    no other on any data set.
    """
    ideal = ideal_winning_numbers(values)
    return np.where(ideal > 0, winning_numbers(values) / np.maximum(ideal, 1), math.nan)


def average_ranks(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) float64: mean rank over the data sets, 1 the best, ties averaged.

    UsageError where a value is missing: ranks among different rivals do not compare.
    """
    from scipy.stats import rankdata

    return rankdata(-_complete(values), axis=1).mean(axis=0)


def friedman(values: np.ndarray) -> Friedman:
    """Friedman's test with its correction for ties (scipy), p = 1 where all are always tied.

    J. Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006,
    section 3.2.2. UsageError for fewer than two data sets or three algorithms.
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
    """Nemenyi's: average ranks that differ by at least this differ significantly.

    q sqrt(k (k + 1) / (6 N)), q the studentised range's upper alpha point over sqrt(2)
    (Demsar, 2006, section 3.2.2 and table 5a).
    """
    if n_algorithms < 2 or n_datasets < 1:
        raise UsageError(
            f"critical difference: found {n_algorithms} algorithms on {n_datasets} data sets, "
            "expected at least 2 on 1"
        )
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - alpha, n_algorithms, math.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6.0 * n_datasets))


def alike(ranks: np.ndarray, difference: float) -> tuple[tuple[int, ...], ...]:
    """The largest groups of two or more algorithms whose ranks all differ by less than that.

    ranks: (n_algorithms,) average ranks. A group is indices in the order of their ranks; the
    groups are in the order of their best, and none is part of another.
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
