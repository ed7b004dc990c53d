"""The mean difference of two systems, its 95 % interval, and the smallest one that a test finds."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.paired import ROUNDING, differences, satterthwaite, seed_variances

#: the level of an interval, two-sided; the chance that a test finds the smallest difference
ALPHA, POWER = 0.05, 0.80


@dataclass(frozen=True)
class MeanDifference:
    """The mean over queries of a difference, and how far other queries and seeds may move it."""

    mean: float
    #: the standard error of the mean
    error: float
    degrees_of_freedom: float
    n_queries: int

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, folds: np.ndarray) -> MeanDifference:
        """The difference a - b of values (n_repeats, n_queries) on the same queries.

        The error is that of `paired.t`. Where few queries differ their variance is known badly: the
        degrees of freedom are 2n / (k - 1) by its kurtosis k, which is n for a normal distribution,
        and n - 1 at most.
        """
        d = differences(a.mean(axis=0), b.mean(axis=0))
        mean, n = float(d.mean()), len(d)
        if n < 2:  # one query says nothing of the others
            return cls(mean, math.inf, 1.0, n)
        square = ((d - d.mean()) ** 2).mean()
        square *= square > (ROUNDING * np.abs(d).max()) ** 2
        with np.errstate(divide="ignore"):
            kurtosis = ((d - d.mean()) ** 4).mean() / (square**2 if square > 0.0 else math.nan)
            degrees = np.fmin(2.0 * n / np.maximum(kurtosis - 1.0, 0.0), n - 1.0)
        seeds = seed_variances(a, b, folds)
        of_queries = square / (n - 1)
        total = of_queries + sum(variance for variance, _ in seeds)
        if seeds and total > 0.0:
            degrees = satterthwaite([(of_queries, degrees), *seeds])
        return cls(mean, float(np.sqrt(total)), float(degrees), n)

    @classmethod
    def from_zero(cls, values: np.ndarray, folds: np.ndarray) -> MeanDifference:
        """The mean of values (n_repeats, n_queries) itself."""
        return cls.of(values, np.zeros((1, len(folds))), folds)

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.degrees_of_freedom, 1.0 - ALPHA / 2.0) * self.error)
        return self.mean - half, self.mean + half

    def smallest(self) -> float:
        """The smallest true difference that a test on as many queries finds in 80 % of cases.

        J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
        """
        from scipy.special import stdtrit

        of = self.degrees_of_freedom
        return float((stdtrit(of, 1.0 - ALPHA / 2.0) + stdtrit(of, POWER)) * self.error)
