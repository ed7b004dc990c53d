"""Two algorithms on the same queries: is their difference real, and how large is it?

The values are those of the queries of all folds, means over the repeats of an algorithm with
several seeds. The randomisation test and the t-test also count the seeds, by their
`seed_variances`; Wilcoxon's test counts queries alone. Algorithms without any difference have
p = 1.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.errors import DataError
from letorbench.results.per_query import PerQuery

#: relative size of what is rounding, not a difference: equal values in another order of sums
ROUNDING = 1e-12
#: the assignments of signs that the randomisation test draws
SAMPLES = 100_000
#: the orders of each query's values that Tukey's test draws: each costs a number for each algorithm
ORDERS = 10_000

#: estimated variances of means, each with its degrees of freedom
Variances = Sequence[tuple[float, int]]


def differences(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a - b of finite values (n,), n >= 1, exactly 0 where they differ only in rounding."""
    a, b = np.asarray(a, dtype=np.float64), np.asarray(b, dtype=np.float64)
    if a.ndim != 1 or a.shape != b.shape or not len(a):
        raise DataError(
            f"paired test: found values of shapes {a.shape} and {b.shape}, expected one value "
            "per query, for the same queries"
        )
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise DataError("paired test: found a value that is no finite number")
    d = a - b
    d[np.abs(d) <= ROUNDING * np.maximum(np.abs(a), np.abs(b))] = 0.0
    return d


def _all_equal(d: np.ndarray) -> bool:
    return bool(np.ptp(d) <= ROUNDING * np.abs(d).max())


def seed_variances(a: np.ndarray, b: np.ndarray, folds: np.ndarray) -> list[tuple[float, int]]:
    """What the seeds of a and b (n_repeats, n_queries) add to the variance of a mean difference."""
    variances = []  # every fold of every repeat has its own seed; one repeat adds nothing
    for table in (a, b):
        for fold in np.unique(folds) if len(table) > 1 else ():
            weighted = table[:, folds == fold].sum(axis=1) / table.shape[1]
            variances.append((float(weighted.var(ddof=1) / len(weighted)), len(weighted) - 1))
    return variances


def satterthwaite(variances: Sequence[tuple[float, float]]) -> float:
    """The degrees of freedom of a sum of variances (Satterthwaite, Biometrics Bulletin 2, 1946)."""
    total = sum(variance for variance, _ in variances)
    return total**2 / sum(variance**2 / degrees for variance, degrees in variances)


def randomization(
    a: np.ndarray,
    b: np.ndarray,
    rng: np.random.Generator,
    seeds: Variances = (),
    samples: int = SAMPLES,
) -> float:
    """Fisher's randomisation test of the mean difference: which algorithm is which is a coin.

    p is the share of random assignments of signs whose |mean| is at least the observed one,
    (count + 1) / (samples + 1), which keeps the level (Phipson and Smyth, 2010). For retrieval:
    Smucker, Allan and Carterette, CIKM 2007. Each gets a normal draw of the seeds' variances.
    """
    d = differences(a, b)
    normal = rng.normal(size=samples)
    return _fraction(_signed_sums(d[None], rng, samples)[0], d, normal, seeds)


def randomizations(
    values: np.ndarray, pairs: Sequence[tuple[int, int]], seeds: Sequence[Variances], seed: int
) -> list[float]:
    """`randomization` of pairs of the rows of values (m, n), each with the same draws."""
    # the sum of a pair's differences is the difference of the rows' sums; a pair whose differences
    # are too small beside the rounding of these is tested by itself
    rng, n = np.random.default_rng(seed), values.shape[1]
    normal = rng.normal(size=SAMPLES)
    centred = values - values.mean(axis=0)
    sums = _signed_sums(centred, rng, SAMPLES)
    sizes = np.abs(centred).sum(axis=1) * (n / 8 + 10) * np.finfo(np.float64).eps
    p_values = []
    for (i, j), pair_seed in zip(pairs, seeds):
        d = differences(values[i], values[j])
        rounding = np.abs(centred[i] - centred[j] - d).sum() + sizes[i] + sizes[j]
        if rounding < ROUNDING / 2 * np.abs(d).sum() or not d.any():
            p_values.append(_fraction(sums[i] - sums[j], d, normal, pair_seed))
        else:
            p_values.append(
                randomization(values[i], values[j], np.random.default_rng(seed), pair_seed)
            )
    return p_values


def _signed_sums(values: np.ndarray, rng: np.random.Generator, samples: int) -> np.ndarray:
    """The sums of values (m, n) with random signs, the same for all rows, (m, samples)."""
    m, n = values.shape  # a random byte picks the sums of eight columns from tables of 256
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    padded = np.zeros((m, -(-n // 8), 8))
    padded.reshape(m, -1)[:, :n] = values
    sums = np.zeros((m, samples))
    for k in range(padded.shape[1]):
        drawn = rng.integers(0, 256, samples, dtype=np.uint8).astype(np.intp)
        for row, table in zip(sums, padded[:, k] @ signs.T):
            row += table.take(drawn)
    return sums


def _fraction(sums: np.ndarray, d: np.ndarray, normal: np.ndarray, seeds: Variances) -> float:
    """The p-value of differences d (n,) whose sums with random signs are these, (samples,)."""
    if seeds:
        sums = sums + len(d) * math.sqrt(sum(v for v, _ in seeds)) * normal
    least = abs(d.sum()) - ROUNDING * np.abs(d).sum()
    return float((np.count_nonzero(np.abs(sums) >= least) + 1) / (len(sums) + 1))


def t(a: np.ndarray, b: np.ndarray, seeds: Variances = ()) -> float:
    """Student's paired t-test. LETOR's is one-sided, P(T > t); this is 2 min(p, 1 - p) of it.

    One query proves nothing (p = 1); the same difference everywhere has p = 0.
    """
    from scipy.special import stdtr
    from scipy.stats import ttest_1samp

    d = differences(a, b)
    if len(d) == 1 or not d.any():
        return 1.0
    if any(variance for variance, _ in seeds):
        parts = [(float(d.var(ddof=1)) / len(d), len(d) - 1), *seeds]
        statistic = float(d.mean()) / math.sqrt(sum(variance for variance, _ in parts))
        return 2.0 * float(stdtr(satterthwaite(parts), -abs(statistic)))
    if _all_equal(d):
        return 0.0
    # the paired test is the test of the differences against 0, here those without rounding
    return float(ttest_1samp(d, 0.0).pvalue)


def wilcoxon(a: np.ndarray, b: np.ndarray) -> float:
    """Wilcoxon's signed-rank test; queries without a difference are left out, as he did."""
    from scipy.stats import wilcoxon as signed_ranks

    changed = np.round(differences(a, b), 12)
    changed = changed[changed != 0.0]
    return float(signed_ranks(changed).pvalue) if len(changed) else 1.0


#: the p-values of the paired tests by name
TESTS: Mapping[str, Callable[[np.ndarray, np.ndarray, np.random.Generator, Variances], float]] = {
    "randomization": randomization,
    "t": lambda a, b, rng, seeds: t(a, b, seeds),
    "wilcoxon": lambda a, b, rng, seeds: wilcoxon(a, b),
}


def holm(p: np.ndarray) -> np.ndarray:
    """max over j <= i of min(1, (m - j + 1) p_(j)): S. Holm, Scand. J. Statistics 6, 1979."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate(np.arange(len(p), 0, -1) * p[order])
    return np.minimum(adjusted, 1.0)


def bonferroni(p: np.ndarray) -> np.ndarray:
    """min(1, m p), which Holm's is never above (O. Dunn, JASA 56, 1961)."""
    return np.minimum(len(p) * p, 1.0)


def benjamini_hochberg(p: np.ndarray) -> np.ndarray:
    """Keeps the share of false rejections (Benjamini and Hochberg, J. Royal Stat. Soc. B, 1995)."""
    from scipy.stats import false_discovery_control

    return false_discovery_control(p, method="bh")


#: the adjustments of the p-values of several pairs by name
CORRECTIONS: Mapping[str, Callable[[np.ndarray], np.ndarray]] = {
    "holm": holm, "bonferroni": bonferroni, "bh": benjamini_hochberg, "none": np.copy
}  # fmt: skip


def corrected(p: np.ndarray, correction: str) -> np.ndarray:
    """The adjusted p-values by a name of `CORRECTIONS`; NaN, of no test, is counted by none."""
    adjusted, tested = p.copy(), ~np.isnan(p)
    if tested.any():
        adjusted[tested] = CORRECTIONS[correction](p[tested])
    return adjusted


#: the correction that is no function of p-values: it tests all pairs of algorithms together
TUKEY = "tukey"


def tukey(
    values: np.ndarray,
    rng: np.random.Generator,
    seed_errors: np.ndarray | float = 0.0,
    samples: int = ORDERS,
) -> np.ndarray:
    """Tukey's HSD, randomised: p of each pair of m algorithms, (m, m) float64, all tested together.

    On each query the algorithms' values (m, n_queries) are exchanged at random. p of a pair is the
    fraction of the draws whose largest mean less the smallest is at least the pair's difference. B.
    Carterette, Multiple Testing in Statistical Analysis of Systems-Based Information Retrieval
    Experiments, ACM TOIS 30(1), 2012, section 4.2. Each draw gets normal errors of the seeds.
    """
    n = values.shape[1]
    sums = n * rng.normal(0.0, np.broadcast_to(seed_errors, len(values)), (samples, len(values)))
    for row in values.T[np.ptp(values, axis=0) > 0.0]:
        sums += rng.permuted(np.broadcast_to(row, sums.shape), axis=1)
    widest = np.sort(np.ptp(sums, axis=1))
    means = values.sum(axis=1)
    least = np.abs(means[:, None] - means) - ROUNDING * np.abs(values).sum()
    # at least as wide: those from the place of the difference on
    return (samples - np.searchsorted(widest, least) + 1) / (samples + 1)


def effect_size(a: np.ndarray, b: np.ndarray) -> float:
    """Cohen's d_z: the mean of a - b over its standard deviation; nan for one query.

    J. Cohen, Statistical Power Analysis for the Behavioral Sciences, 1988, chapter 2.
    """
    d = differences(a, b)
    if not d.any():
        return 0.0
    if len(d) == 1:
        return math.nan
    if _all_equal(d):
        return math.copysign(math.inf, d[0])
    return float(d.mean() / d.std(ddof=1))


def win_tie_loss(a: np.ndarray, b: np.ndarray) -> tuple[int, int, int]:
    """The number of queries where a is better, equal (up to rounding) and worse."""
    d = differences(a, b)
    wins, losses = int(np.count_nonzero(d > 0.0)), int(np.count_nonzero(d < 0.0))
    return wins, len(d) - wins - losses, losses


#: the level of an interval, two-sided; the chance that a test finds the smallest difference
ALPHA, POWER = 0.05, 0.80


@dataclass(frozen=True)
class MeanDifference:
    """The mean over queries of a difference, and how far other queries and seeds may move it."""

    mean: float
    #: the standard error of the mean
    error: float
    degrees_of_freedom: float
    #: how many differences the mean is of: those of queries, or of test parts
    n_values: int

    @classmethod
    def of(cls, a: np.ndarray, b: np.ndarray, folds: np.ndarray) -> MeanDifference:
        """The difference a - b of values (n_repeats, n_queries), with the error of `t`."""
        # where few queries differ their variance is known badly: the degrees of freedom are
        # 2n / (k - 1) by its kurtosis k, which is n for a normal distribution, and n - 1 at most
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
    def of_queries(cls, queries: PerQuery, measure: str) -> MeanDifference:
        """The mean of a system's values, of the queries that have one, by their weights."""
        kept = queries.counted(measure).in_means
        return cls.of(kept.tables[measure], np.zeros((1, len(kept.qids))), kept.folds)

    @classmethod
    def of_resamples(cls, d: np.ndarray, ratio: float) -> MeanDifference:
        """The mean of differences (J,) of J test parts, whose training parts overlap.

        The corrected resampled t-test of C. Nadeau and Y. Bengio, Inference for the Generalization
        Error, Machine Learning 52, 2003, section 3; ratio: queries of a test / a training part.
        """
        if len(d) < 2:
            return cls(float(d.mean()) if len(d) else math.nan, math.inf, 1.0, len(d))
        error = math.sqrt((1.0 / len(d) + ratio) * d.var(ddof=1))
        return cls(float(d.mean()), error, len(d) - 1.0, len(d))

    @property
    def p(self) -> float:
        """The two-sided p-value of Student's t; 1 where nothing differs."""
        from scipy.special import stdtr

        if self.mean == 0.0:
            return 1.0
        t = abs(self.mean) / self.error if self.error else math.inf
        return 2.0 * float(stdtr(self.degrees_of_freedom, -t))

    def interval(self) -> tuple[float, float]:
        """The two-sided 95 % interval."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.degrees_of_freedom, 1.0 - ALPHA / 2.0) * self.error)
        return self.mean - half, self.mean + half

    def smallest(self) -> float:
        """The smallest true difference that a test on as many queries finds in 80 % of cases."""
        from scipy.special import stdtrit

        degrees = self.degrees_of_freedom  # Cohen, chapter 2
        return float((stdtrit(degrees, 1.0 - ALPHA / 2.0) + stdtrit(degrees, POWER)) * self.error)
