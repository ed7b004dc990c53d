"""What other seeds could change: how far they move a mean, and which orders they leave open.

An algorithm that draws random numbers is run with R seeds. Every fold of every repeat has a seed of
its own, so that the folds of a repeat move apart from each other.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

#: an order of two means is open where their difference is within this interval of the seeds'
LEVEL = 0.95


def seed_weights(n_repeats: int, rng: np.random.Generator, resamples: int) -> np.ndarray:
    """(resamples, n_repeats) weights of the seeds in resamples of them; each row sums to 1.

    R - 1 seeds of R are drawn, with replacement: the variance of their mean is then that of a
    mean of R seeds, s^2 / R with s^2 of n - 1, and not (R - 1) / R of it. One seed stays.

    References
    ----------
    P. McCarthy, C. Snowden: The Bootstrap and Finite Population Sampling, 1985: the bootstrap of
    samples of few members.
    """
    if n_repeats == 1:
        return np.ones((resamples, 1))
    drawn = rng.integers(n_repeats, size=(resamples, n_repeats - 1))
    return (drawn[:, :, None] == np.arange(n_repeats)).mean(axis=1)


@dataclass(frozen=True, eq=False)
class SeedNoise:
    """How the seeds move a mean difference of two algorithms."""

    #: (n_repeats,); what each seed adds to the difference, for each algorithm and fold that
    #: has several: it sums to 0 over the repeats
    parts: tuple[np.ndarray, ...] = ()

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, folds: np.ndarray) -> SeedNoise:
        """Take the values of a, (n_repeats, n_queries), and of b apart; folds: (n_queries,)."""
        parts = []
        for sign, table in ((1.0, a), (-1.0, b)):
            if len(table) > 1:
                for fold in np.unique(folds):
                    share = sign * table[:, folds == fold].sum(axis=1) / table.shape[1]
                    parts.append(share - share.mean())
        return cls(tuple(parts))

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def variances(self) -> list[tuple[float, int]]:
        """The variance of each part's mean over its seeds, and its degrees of freedom."""
        return [(float(part.var(ddof=1) / len(part)), len(part) - 1) for part in self.parts]

    def draw(self, rng: np.random.Generator, samples: int) -> np.ndarray:
        """(samples,) deviations of the difference, its seeds drawn again."""
        total = np.zeros(samples)
        for part in self.parts:
            total += seed_weights(len(part), rng, samples) @ part
        return total

    def reach(self, level: float = LEVEL) -> float:
        """Half the width of the interval in which the seeds leave the difference, by Student's t.

        The degrees of freedom are Welch and Satterthwaite's.
        """
        total = sum(variance for variance, _ in self.variances)
        if total == 0.0:
            return 0.0
        from scipy.special import stdtrit  # takes longer than all else in a table without seeds

        degrees = satterthwaite(self.variances)
        return float(stdtrit(degrees, (1.0 + level) / 2.0)) * math.sqrt(total)


def satterthwaite(variances: Sequence[tuple[float, int]]) -> float:
    """The degrees of freedom of a sum of estimated variances (variance, degrees of freedom).

    References
    ----------
    F. Satterthwaite: An Approximate Distribution of Estimates of Variance Components, Biometrics
    Bulletin 2(6), 1946.
    """
    total = sum(variance for variance, _ in variances)
    return total**2 / sum(variance**2 / degrees for variance, degrees in variances)


def is_open(a: Sequence[float], b: Sequence[float]) -> bool:
    """Whether other seeds could turn the order of two means.

    a, b: the means of the repeats of each, one where nothing is drawn.

    Examples
    --------
    >>> is_open([0.41, 0.43, 0.42], [0.415])
    True
    >>> is_open([0.41, 0.43, 0.42], [0.3])
    False
    """
    parts = (np.asarray(means, dtype=np.float64) for means in (a, b) if len(means) > 1)
    noise = SeedNoise(tuple(means - means.mean() for means in parts))
    return abs(float(np.mean(a)) - float(np.mean(b))) < noise.reach()


def turned(a: Sequence[float], b: Sequence[float]) -> float:
    """The share of pairs of single seeds, one of a and one of b, that turn the means' order."""
    lead = float(np.mean(a)) - float(np.mean(b))
    pairs = np.subtract.outer(np.asarray(a), np.asarray(b))
    return float((np.sign(pairs) == -np.sign(lead)).mean()) if lead else 0.0
