"""Paired tests of two algorithms on the same queries: is the mean difference real?

The input is what a run stores per query, all folds pooled, and the mean over the repeats where an
algorithm has several seeds. The randomisation test and the t-test then count the seeds too, by the
`SeedNoise` of the difference; Wilcoxon's test counts queries alone. Every test is two-sided, and
two algorithms that do not differ anywhere have p = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from letorbench.analysis.seeds import SeedNoise, satterthwaite
from letorbench.analysis.sign_flips import ROUNDING, counted, sampled
from letorbench.errors import DataError, UsageError

#: up to so many queries that differ, the randomisation test looks at every flip of signs
EXACT = 32
SAMPLES = 100_000


@dataclass(frozen=True)
class Significance:
    """What a paired test says of a against b.

    test:       `randomization`, `t` or `wilcoxon`.
    statistic:  the mean difference, Student's t, or the smaller sum of signed ranks.
    p:          two-sided, 0 to 1, never NaN; a counted or sampled one is never 0.
    n:          the queries.
    difference: mean of a - b.
    method:     `exact`, `sampled`, or `approximate` (a distribution instead of a count).
    """

    test: str
    statistic: float
    p: float
    n: int
    difference: float
    method: str


def differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b, (n,) float64, exactly 0 where they differ only in rounding.

    a, b: (n,) finite values of the same queries in the same order, n >= 1; else DataError.
    """
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise DataError(
            f"paired test: found values of shapes {a.shape} and {b.shape}, expected one value "
            "a query, for the same queries"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError("paired test: found a value that is no finite number")
    d = a - b
    d[np.abs(d) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return d


def randomization(
    a: np.ndarray,
    b: np.ndarray,
    rng: np.random.Generator,
    samples: int = SAMPLES,
    noise: SeedNoise = SeedNoise(),
) -> Significance:
    """Fisher's randomisation test of the mean difference: which algorithm is which is a coin.

    p is the share of the 2^n assignments of signs whose |mean| is at least the observed one:
    counted where at most `EXACT` queries differ (a query without a difference weighs nothing
    in any assignment), else estimated from random assignments by (count + 1) / (samples + 1),
    which keeps the level (Phipson and Smyth, 2010). For retrieval: Smucker, Allan and
    Carterette, CIKM 2007. `rng` is drawn from only where it samples.

    Where there is noise of seeds every assignment gets a draw of it, and the test always samples:
    a difference counts only as far as neither other queries nor other seeds would give it.
    """
    d = differences(a, b)
    changed = d[d != 0.0]
    if noise and len(changed):
        p = sampled(changed, rng, samples, len(d) * noise.draw(rng, samples))
        return Significance("randomization", float(d.mean()), p, len(d), float(d.mean()), "sampled")
    method = "exact" if len(changed) <= EXACT else "sampled"
    p = counted(changed) if method == "exact" else sampled(changed, rng, samples)
    return Significance("randomization", float(d.mean()), p, len(d), float(d.mean()), method)


def t(a: np.ndarray, b: np.ndarray, noise: SeedNoise = SeedNoise()) -> Significance:
    """Student's paired t-test, the one LETOR's tools come with (theirs is one-sided: they
    print P(T > t), so that ours is 2 min(p, 1 - p) of it).

    One query proves nothing (p = 1); the same difference everywhere has t = +-inf, p = 0. The
    variance of the seeds is added to that of the queries, with Satterthwaite's degrees of freedom.
    """
    d = differences(a, b)
    mean = float(d.mean())
    if len(d) == 1 or not d.any():
        return Significance("t", 0.0, 1.0, len(d), mean, "approximate")
    if noise:
        from scipy.special import stdtr

        parts = [(float(d.var(ddof=1)) / len(d), len(d) - 1), *noise.variances]
        statistic = mean / math.sqrt(sum(variance for variance, _ in parts))
        p = 2.0 * float(stdtr(satterthwaite(parts), -abs(statistic)))
        return Significance("t", statistic, p, len(d), mean, "approximate")
    if np.ptp(d) <= ROUNDING * np.abs(d).max():
        return Significance("t", float(np.copysign(np.inf, mean)), 0.0, len(d), mean, "approximate")
    from scipy.stats import ttest_1samp

    # the paired test is the test of the differences against 0, here those without rounding
    result = ttest_1samp(d, 0.0)
    return Significance(
        "t", float(result.statistic), float(result.pvalue), len(d), mean, "approximate"
    )


def wilcoxon(a: np.ndarray, b: np.ndarray) -> Significance:
    """Wilcoxon's signed-rank test; queries without a difference are left out, as he did.

    Equal absolute differences (to twelve decimals) share their mean rank. Where at most
    `EXACT` queries differ every assignment of signs to the ranks is counted, shared ranks
    and all; else it is scipy's normal approximation with the correction for ties.
    """
    d = differences(a, b)
    mean = float(d.mean())
    changed = np.round(d, 12)
    changed = changed[changed != 0.0]
    if not len(changed):
        return Significance("wilcoxon", 0.0, 1.0, len(d), mean, "exact")
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_ranks

    ranks = rankdata(np.abs(changed))
    smaller = float(min(ranks[changed > 0].sum(), ranks[changed < 0].sum()))
    if len(changed) <= EXACT:
        p = counted(np.copysign(ranks, changed))
        return Significance("wilcoxon", smaller, p, len(d), mean, "exact")
    p = float(signed_ranks(changed, method="approx").pvalue)
    return Significance("wilcoxon", smaller, p, len(d), mean, "approximate")


Test = Callable[[np.ndarray, np.ndarray, np.random.Generator, SeedNoise], Significance]

#: the paired tests by name, all called alike
TESTS: Mapping[str, Test] = MappingProxyType(
    {
        "randomization": lambda a, b, rng, noise: randomization(a, b, rng, noise=noise),
        "t": lambda a, b, rng, noise: t(a, b, noise),
        "wilcoxon": lambda a, b, rng, noise: wilcoxon(a, b),
    }
)


def paired_test(
    name: str,
    a: np.ndarray,
    b: np.ndarray,
    rng: np.random.Generator,
    noise: SeedNoise = SeedNoise(),
) -> Significance:
    """The test of that name; UsageError names the choices."""
    if name not in TESTS:
        raise UsageError(f"unknown test {name!r}; expected one of {', '.join(TESTS)}")
    return TESTS[name](a, b, rng, noise)
