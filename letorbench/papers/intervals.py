"""The numbers that claims are judged by, and their intervals over queries and training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from letorbench.papers.paper import Claim, Point, Test
from letorbench.papers.runs import ByMethod, are_draws
from letorbench.results.per_query import PerQuery

#: the number of resamples
DRAWS = 2_000
#: (part, data set) -> the part's number on each re-split of that set, (n_draws,)
Between = Mapping[tuple[str, str], np.ndarray]


def resampled(
    of: Mapping[str, PerQuery], measures: Sequence[str], draws: int = DRAWS, seed: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> (1 + draws,) means of a data set's methods, the observed ones first.

    Queries are resampled, the same for every method, and seeds; of generated data whole draws.
    """
    rng = np.random.default_rng(seed)
    folds = next(iter(of.values())).folds
    numbers = np.unique(folds)
    again = {k: _weights(rng, int((folds == k).sum()), draws) for k in numbers}
    whole = _weights(rng, len(numbers), draws)
    found = {}
    for name, values in of.items():
        total = np.zeros((1 + draws, len(measures)))
        for i, k in enumerate(numbers):
            tables = np.stack([values.tables[m][:, folds == k] for m in measures])
            table = np.moveaxis(tables, 0, -1)  # (n_repeats, n_queries, n_measures)
            if are_draws(values):
                total += whole[:, [i]] * table.mean(axis=(0, 1)) * len(numbers)
                continue
            seeds = _weights(rng, len(table), draws)
            total += sum(s[:, None] * (again[k] @ each) for s, each in zip(seeds.T, table))
        for m, mean in zip(measures, (total / len(numbers)).T):
            found[name, m] = mean
    return found


def _weights(rng: np.random.Generator, n: int, draws: int) -> np.ndarray:
    """(1 + draws, n) weights with the sum 1: equal ones first, then resamples of n units."""
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
    return np.vstack([np.ones(n), drawn]) / n


def interval(
    found: np.ndarray, n: int, tried: int = 1, level: float = 0.05,
    between: tuple[float, int] = (0.0, 0),
) -> tuple[float, float, float]:  # fmt: skip
    """The observed number and the interval of (1 + draws,) numbers, resampled from n units.

    The upper end holds for all of `tried` such numbers (Bonferroni). `between` is the variance over
    training samples and the number of re-splits of the same queries that it is from: Student's t of
    this scale adds to the resamples. Their percentiles are widened as those of Student's t for few
    units: T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician
    69, 2015, section 3.3.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return float(found[0]), float("-inf"), float("inf")
    drawn, (variance, samples) = found[1:], between
    if variance > 0.0:
        spread = stdtrit(samples - 1, (np.arange(len(drawn)) + 0.5) / len(drawn))
        drawn = drawn + np.sqrt(variance) * np.random.default_rng(0).permutation(spread)
    t = stdtrit(n - 1, (level / 2.0, 1.0 - level / 2.0 / tried))
    low, high = np.quantile(drawn, ndtr(np.sqrt(n / (n - 1.0)) * t))
    return float(found[0]), float(low), float(high)


def leads_of(here: Sequence[Point], values: ByMethod, draws: int) -> np.ndarray:
    """(n_points, 1 + draws) leads, as fractions of the observed lower means."""
    measures = list(dict.fromkeys(p.measure for p in here))
    means = dict[tuple[str, str, str], np.ndarray]()
    for place in dict.fromkeys(p.dataset for p in here):
        used = dict.fromkeys(m for p in here if p.dataset == place for m in (p.upper, p.lower))
        methods = {name: values[place][name] for name in used}
        means |= {(place, *of): each for of, each in resampled(methods, measures, draws).items()}
    upper = np.array([means[p.dataset, p.upper, p.measure] for p in here])
    lower = np.array([means[p.dataset, p.lower, p.measure] for p in here])
    base = lower[:, :1]
    return (upper - lower) / np.where(base > 0.0, base, np.nan)


def estimands(test: Test, here: Sequence[Point], leads: np.ndarray) -> list[np.ndarray]:
    """The numbers of a test, the least of which it is judged by, for each column of the leads."""
    if test.kind == "best":
        others = dict.fromkeys(p.lower for p in here)
        return [leads[[q.lower == other for q in here]].mean(axis=0) for other in others]
    if test.kind == "one-sided":
        return [(leads > test.beyond).mean(axis=0) - (leads < -test.beyond).mean(axis=0)]
    return [leads.mean(axis=0)]


def on_draws(claim: Claim, redrawn: Sequence[ByMethod]) -> Between:
    """Each part's number on each re-split of each of the data sets that have some."""
    found = {}
    for test in (each for each in claim.tests if each.compares):
        for dataset in test.data:
            here = [p for p in test.points() if p.dataset == dataset]
            methods = {m for p in here for m in (p.upper, p.lower)}
            whole = [draw for draw in redrawn if methods <= draw.get(dataset, {}).keys()]
            numbers = [min(estimands(test, here, leads_of(here, d, 0)))[0] for d in whole]
            if len(numbers) > 1:
                found[test.part, dataset] = np.array(numbers)
    return found
