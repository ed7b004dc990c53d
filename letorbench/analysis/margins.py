"""Tests against a margin, and how large a difference a number of queries can show.

A superiority test asks whether two algorithms differ. A non-inferiority test asks whether one
is at most a margin below the other, and an equivalence test whether they are at most a margin
apart (TOST: two one-sided tests). Neither follows from a superiority test that finds nothing.

References
----------
D. Schuirmann, A comparison of the two one-sided tests procedure and the power approach, Journal
of Pharmacokinetics and Biopharmaceutics 15, 1987.
"""

from __future__ import annotations

import math

import numpy as np

from letorbench.analysis.sign_flips import ROUNDING
from letorbench.analysis.significance import differences

#: the share of samples in which a difference of the detectable size is found
POWER = 0.80
ALPHA = 0.05


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
    """p of TOST: the larger p of the two tests that |mean of a - b| is below `margin`."""
    return max(above(a, b, -margin), below(a, b, margin))


def detectable(a: np.ndarray, b: np.ndarray, sides: int = 2) -> float:
    """The smallest mean difference that so many queries show in 80 % of samples.

    (t_{1 - alpha/sides} + t_{power}) sd / sqrt(n) with the differences' standard deviation, at a
    level of 5 %. Without a second query nothing can be shown, and it is infinite.

    References
    ----------
    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    from scipy.stats import t

    d = differences(a, b)
    if len(d) < 2:
        return math.inf
    quantiles = t.ppf(1.0 - ALPHA / sides, len(d) - 1) + t.ppf(POWER, len(d) - 1)
    return float(quantiles * d.std(ddof=1) / math.sqrt(len(d)))
