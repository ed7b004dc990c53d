"""How far one method is above another, and the smallest lead that such data show.

One interval answers whether there is a lead, and whether one of a given size is excluded.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from letorbench.analysis.paired import (
    ROUNDING,
    Variances,
    differences,
    satterthwaite,
    seed_variances,
)
from letorbench.results.per_query import mean_of_folds

#: the level of an interval, two-sided; the chance by which the smallest lead shows
ALPHA, POWER = 0.05, 0.80


@dataclass(frozen=True, eq=False)
class Lead:
    """How far one method is above another, and what chance leaves of that.

    Parameters
    ----------
    mean, error, degrees : float or ndarray
        The mean difference, its standard error, and the degrees of freedom; arrays for many
        resamples at a time.
    base : float
        The lower method's mean, of which margins are shares.
    units : int
        How many were drawn independently.
    unit : str
        What was drawn: `query`, `query and seed`, or `draw`.
    """

    mean: float | np.ndarray
    error: float | np.ndarray
    degrees: float | np.ndarray
    base: float
    units: int
    unit: str = "query"

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, folds: np.ndarray, draws: bool = False) -> Lead:
        """The lead of a over b, (n_repeats, n_queries) each, on the same queries.

        draws: whether a fold is an independent draw of generated data, with its own training.
        """
        base = mean_of_folds(b.mean(axis=0), folds)
        if draws:
            means = [(a[:, folds == k].mean() - b[:, folds == k].mean()) for k in np.unique(folds)]
            return cls.summed(np.array(means), base, unit="draw")
        seeds = seed_variances(a, b, folds)
        d = differences(a.mean(axis=0), b.mean(axis=0))
        return cls.summed(d, base, seeds, "query and seed" if seeds else "query")

    @classmethod
    def over_nothing(cls, values: np.ndarray, folds: np.ndarray) -> Lead:
        """The mean of (n_repeats, n_queries) values itself, as a lead over 0."""
        return cls.of(values, np.zeros((1, len(folds))), folds)

    @classmethod
    def summed(
        cls,
        d: np.ndarray,
        base: float,
        others: Variances = (),
        unit: str = "query",
    ) -> Lead:
        """The mean of d (..., n_units), with the variances of means that are added to its own.

        It is `analysis.paired.t`'s statistic, for many resamples at a time. Where few units differ
        their variance is known badly: the degrees of freedom are by its kurtosis k, 2n / (k - 1),
        which is n for a normal distribution, and n - 1 at most.
        """
        n = d.shape[-1]
        if n < 2:  # one unit says nothing of the others
            return cls(d.mean(axis=-1), math.inf, 1.0, base, n, unit)
        centred = d - d.mean(axis=-1, keepdims=True)
        square = (centred**2).mean(axis=-1)
        square = np.where(square > (ROUNDING * np.abs(d).max(axis=-1)) ** 2, square, 0.0)
        with np.errstate(divide="ignore"):
            kurtosis = (centred**4).mean(axis=-1) / np.where(square > 0.0, square**2, math.nan)
            degrees = np.fmin(2.0 * n / np.maximum(kurtosis - 1.0, 0.0), n - 1.0)
        own = square / (n - 1)
        total = own + sum(variance for variance, _ in others)
        if others and np.all(total > 0.0):
            degrees = satterthwaite([(own, degrees), *others])
        return cls(d.mean(axis=-1), np.sqrt(total), degrees, base, n, unit)

    @property
    def same(self) -> bool:
        """Whether both methods differ by the same everywhere: nothing can be told then."""
        return bool(np.all(self.error == 0.0))

    def above(self, margin: float = 0.0) -> np.ndarray:
        """p of the one-sided test that the lead is above the margin."""
        from scipy.special import stdtr

        error = np.asarray(self.error)
        t = (margin - np.asarray(self.mean)) / np.where(error > 0.0, error, 1.0)
        return np.where(error > 0.0, stdtr(self.degrees, t), 1.0)

    def below(self, margin: float = 0.0) -> np.ndarray:
        """p of the one-sided test that the lead is below the margin."""
        return replace(self, mean=-np.asarray(self.mean)).above(-margin)

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.degrees, 1.0 - ALPHA / 2.0) * self.error)
        return float(self.mean) - half, float(self.mean) + half

    def smallest(self) -> float:
        """The smallest true lead that so many units show in 80 % of cases.

        J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
        """
        from scipy.special import stdtrit

        quantiles = stdtrit(self.degrees, 1.0 - ALPHA / 2.0) + stdtrit(self.degrees, POWER)
        return float(quantiles * self.error)
