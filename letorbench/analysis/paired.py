"""Two algorithms on the same queries: is their difference real, and how large is it?

The input is what a run stores per query, all folds pooled, and the mean over the repeats where an
algorithm has several seeds. The randomisation test and the t-test then count the seeds too, by the
`SeedNoise` of the difference; Wilcoxon's test counts queries alone. Two algorithms that do not
differ anywhere have p = 1. `CORRECTIONS` adjust the p-values of several pairs.

Bootstrap intervals draw queries again, with replacement and together for all algorithms, and,
within each algorithm and fold, the seeds where there are several (`seeds.seed_weights`).

References
----------
B. Efron, R. Tibshirani: An Introduction to the Bootstrap, 1993, chapter 13.
A. Owen: The Pigeonhole Bootstrap, Annals of Applied Statistics 1(2), 2007: rows and columns of a
crossed table are drawn apart. The variance of such resamples is at least that of the mean; what it
is too large by is the part of single cells, which is divided by both numbers.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from letorbench.analysis.seeds import SeedNoise, satterthwaite, seed_weights
from letorbench.errors import DataError

#: relative size of what is rounding, not a difference: equal values in another order of sums
ROUNDING = 1e-12
#: up to so many queries that differ, the randomisation test looks at every flip of signs
EXACT = 32
SAMPLES = 100_000
#: how often a bootstrap draws the queries again, and its draws that are in memory at a time
RESAMPLES, BLOCK = 10_000, 2**20


@dataclass(frozen=True)
class Significance:
    """What a paired test says of a against b."""

    #: a name of `TESTS`
    test: str
    #: two-sided, from 0 to 1; a counted or sampled one is never 0
    p: float
    #: the number of queries
    n: int
    #: the mean of a - b
    difference: float
    #: `exact`, `sampled`, or `approximate` (a distribution instead of a count)
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
    mean, changed = float(d.mean()), d[d != 0.0]
    if len(changed) <= EXACT and not (noise and len(changed)):
        return Significance("randomization", counted(changed), len(d), mean, "exact")
    added = len(d) * noise.draw(rng, samples) if noise else 0.0
    p = sampled(changed, rng, samples, added)
    return Significance("randomization", p, len(d), mean, "sampled")


def t(a: np.ndarray, b: np.ndarray, noise: SeedNoise = SeedNoise()) -> Significance:
    """Student's paired t-test. LETOR's own is one-sided, P(T > t); this is 2 min(p, 1 - p) of it.

    One query proves nothing (p = 1); the same difference everywhere has p = 0. The
    variance of the seeds is added to that of the queries, with Satterthwaite's degrees of freedom.
    """
    from scipy.special import stdtr
    from scipy.stats import ttest_1samp

    d = differences(a, b)
    mean = float(d.mean())
    if len(d) == 1 or not d.any():
        p = 1.0
    elif noise:
        parts = [(float(d.var(ddof=1)) / len(d), len(d) - 1), *noise.variances]
        statistic = mean / math.sqrt(sum(variance for variance, _ in parts))
        p = 2.0 * float(stdtr(satterthwaite(parts), -abs(statistic)))
    elif np.ptp(d) <= ROUNDING * np.abs(d).max():
        p = 0.0
    else:  # the paired test is the test of the differences against 0, here those without rounding
        p = float(ttest_1samp(d, 0.0).pvalue)
    return Significance("t", p, len(d), mean, "approximate")


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
    from scipy.stats import rankdata
    from scipy.stats import wilcoxon as signed_ranks

    if len(changed) <= EXACT:
        p = counted(np.copysign(rankdata(np.abs(changed)), changed))
        return Significance("wilcoxon", p, len(d), mean, "exact")
    p = float(signed_ranks(changed, method="approx").pvalue)
    return Significance("wilcoxon", p, len(d), mean, "approximate")


#: the paired tests by name, all called alike
TESTS: Mapping[
    str, Callable[[np.ndarray, np.ndarray, np.random.Generator, SeedNoise], Significance]
] = MappingProxyType(
    {
        "randomization": lambda a, b, rng, noise: randomization(a, b, rng, noise=noise),
        "t": lambda a, b, rng, noise: t(a, b, noise),
        "wilcoxon": lambda a, b, rng, noise: wilcoxon(a, b),
    }
)


def counted(d: np.ndarray) -> float:
    """Share of the sign assignments of d, (m,), with |sum| >= |sum of d|, up to rounding.

    The 2^m sums are those of one half plus those of the other: with the second half's sorted,
    a search a sum of the first counts them all.
    """
    least = _least(d)
    if least <= 0.0:
        return 1.0
    half = len(d) // 2
    first, second = _signed_sums(d[:half]), _signed_sums(d[half:])
    upper = len(first) * len(second) - np.searchsorted(second, least - first).sum()
    return min(1.0, 2.0 * float(upper) / 2.0 ** len(d))  # the sums lie symmetrically around 0


def sampled(
    d: np.ndarray, rng: np.random.Generator, samples: int, added: np.ndarray | float = 0.0
) -> float:
    """(count + 1) / (samples + 1) of random sign assignments with |sum| >= |sum of d|.

    `added`, (samples,), is what else moves each of the sums. A random byte gives the signs of
    eight queries and picks their sum from a table of 256.
    """
    padded = np.zeros(-(-len(d) // 8) * 8)
    padded[: len(d)] = d
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    sums = np.zeros(samples) + added
    for table in padded.reshape(-1, 8) @ signs.T:
        sums += table.take(rng.integers(0, 256, samples, dtype=np.uint8))
    return (np.count_nonzero(np.abs(sums) >= _least(d)) + 1) / (samples + 1)


def _signed_sums(d: np.ndarray) -> np.ndarray:
    """(2^m,) sorted sums of d under every assignment of signs."""
    sums = np.zeros(1)
    for value in d:
        sums = np.concatenate([sums - value, sums + value])
    return np.sort(sums)


def _least(d: np.ndarray) -> float:
    """The absolute sum from which on an assignment counts as at least as far out as d's."""
    return float(abs(d.sum()) - ROUNDING * np.abs(d).sum())


def holm(p: np.ndarray) -> np.ndarray:
    """Holm's step-down adjustment, (m,) float64: keeps the chance of any false rejection.

    With p_(1) <= ... <= p_(m): max over j <= i of min(1, (m - j + 1) p_(j)). S. Holm, A Simple
    Sequentially Rejective Multiple Test Procedure, Scand. J. Statistics 6, 1979.
    """
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order])
    return np.minimum(adjusted, 1.0)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Benjamini and Hochberg's step-up adjustment, (m,) float64: keeps the share of false ones.

    Y. Benjamini, Y. Hochberg, Controlling the False Discovery Rate, J. Royal Statistical Society
    B 57, 1995.
    """
    from scipy.stats import false_discovery_control

    return false_discovery_control(p, method="bh")


#: the adjustments of the p-values of several pairs by name
CORRECTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = MappingProxyType(
    {"holm": holm, "bh": benjamini_hochberg, "none": np.copy}
)


def effect_size(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's d_z: the mean of a - b over its standard deviation (n - 1).

    It is 0 where a and b are equal everywhere, +-inf where they differ by the same amount on
    every query, and nan for one query, which has no deviation.

    References
    ----------
    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    d = differences(a, b)
    if not d.any():
        return 0.0
    if len(d) == 1:
        return math.nan
    if np.ptp(d) <= ROUNDING * np.abs(d).max():
        return math.copysign(math.inf, d[0])
    return float(d.mean() / d.std(ddof=1))


def win_tie_loss(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int]:
    """The number of queries where a is better, equal (up to rounding) and worse."""
    d = differences(a, b)
    wins, losses = int(np.count_nonzero(d > 0.0)), int(np.count_nonzero(d < 0.0))
    return wins, len(d) - wins - losses, losses


@dataclass(frozen=True)
class Interval:
    """A mean over queries, and the 95 % interval of it when the queries are drawn again."""

    mean: float
    low: float
    high: float


def bootstrap_columns(
    table: np.ndarray, folds: np.ndarray, rng: np.random.Generator, resamples: int = RESAMPLES
) -> list[Interval]:
    """The intervals of the means of the columns of a table, all on the same draws.

    table: (n_repeats, n_queries, n_columns); folds: (n_queries,), whose seeds are drawn apart.
    """
    (means,) = resampled_means([table], folds, rng, resamples)
    return intervals([float(column.mean()) for column in np.moveaxis(table, 2, 0)], means)


def bootstrap_difference(
    a: np.ndarray,
    b: np.ndarray,
    folds: np.ndarray,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
) -> Interval:
    """The interval of the mean of a - b: a query is drawn with both its values.

    a, b: (n_repeats, n_queries), the repeats of each its own; folds: (n_queries,).
    """
    if len(a) == len(b) == 1:
        a = differences(a[0], b[0])[None]
        return bootstrap_columns(a[:, :, None], folds, rng, resamples)[0]
    one, other = resampled_means([a[:, :, None], b[:, :, None]], folds, rng, resamples)
    return intervals([float(a.mean() - b.mean())], one - other)[0]


def resampled_means(
    tables: Sequence[np.ndarray], folds: np.ndarray, rng: np.random.Generator, resamples: int
) -> list[np.ndarray]:
    """Resample queries and seeds; return the means of each table, (resamples, n_columns).

    tables: of each algorithm (n_repeats, n_queries, n_columns); a query is drawn in all of them
    together.
    """
    n = len(folds)
    result = [np.zeros((resamples, table.shape[2])) for table in tables]
    parts = [np.flatnonzero(folds == fold) for fold in np.unique(folds)]
    for block, counts in _query_counts(n, rng, resamples):
        for means, table in zip(result, tables):
            if len(table) == 1:
                means[block] = counts @ table[0] / n
                continue
            for rows in parts:
                weights = seed_weights(len(table), rng, len(counts))
                for weight, values in zip(weights.T, table):
                    means[block] += weight[:, None] * (counts[:, rows] @ values[rows]) / n
    return result


def _query_counts(
    n: int, rng: np.random.Generator, resamples: int
) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the resamples of a block, and (block, n) how often each of n queries is drawn."""
    step = max(1, BLOCK // n)
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = rng.integers(n, size=(size, n))
        drawn += n * np.arange(size)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=size * n).reshape(size, n)
        yield slice(start, start + size), counts


def intervals(centres: Sequence[float], means: np.ndarray) -> list[Interval]:
    """The middle 95 % of each column of resampled means (resamples, n_columns)."""
    tails = [(1.0 - 0.95) / 2.0, (1.0 + 0.95) / 2.0]
    lows, highs = np.quantile(means, tails, axis=0).tolist()
    return [Interval(*each) for each in zip(centres, lows, highs)]
