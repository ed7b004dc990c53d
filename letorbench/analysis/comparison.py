"""Algorithms against one another on one data set: every pair's difference, and how sure it is."""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.cells import Marks
from letorbench.analysis.intervals import (
    Counts,
    Interval,
    bootstrap_difference,
    effect_size,
    win_tie_loss,
)
from letorbench.analysis.multiple import adjust
from letorbench.analysis.significance import Significance, paired_test
from letorbench.errors import UsageError
from letorbench.results.per_query import PerQuery, check_paired

#: names as printed
TEST_NAMES = {
    "randomization": "randomisation test",
    "t": "paired t-test",
    "wilcoxon": "Wilcoxon's signed-rank test",
}
CORRECTION_NAMES = {
    "holm": "Holm's correction",
    "bh": "Benjamini and Hochberg's correction",
    "none": "no correction",
}


@dataclass(frozen=True)
class Procedure:
    """How differences are tested: `TESTS`, `CORRECTIONS`, the level, and the draws' seed."""

    test: str = "randomization"
    correction: str = "holm"
    alpha: float = 0.05
    seed: int = 0

    def __str__(self) -> str:
        return f"{TEST_NAMES[self.test]}, {CORRECTION_NAMES[self.correction]}"


@dataclass(frozen=True)
class Pair:
    """Algorithm a against b on the pooled queries of all folds, by one measure.

    means:    of a and of b over the pooled queries.
    interval: of the mean difference a - b, by the bootstrap, 95 %.
    adjusted: the p-value, corrected for all pairs of the same data set and measure.
    """

    dataset: str
    measure: str
    a: str
    b: str
    means: tuple[float, float]
    interval: Interval
    significance: Significance
    adjusted: float
    effect: float
    counts: Counts

    def sign(self, alpha: float) -> int:
        """+1 where a is significantly better, -1 where it is worse, else 0."""
        return int(np.sign(self.significance.difference)) if self.adjusted < alpha else 0


def compare(
    dataset: str,
    systems: Sequence[PerQuery],
    measure: str,
    baseline: str | None = None,
    procedure: Procedure = Procedure(),
) -> tuple[Pair, ...]:
    """Each system against the baseline, or every pair of them where there is none.

    UsageError for fewer than two systems or a baseline that is not among them; DataError where
    the systems do not hold the same queries.
    """
    pairs = _pairs(dataset, [system.algo for system in systems], baseline)
    check_paired(dataset, systems)
    values = {system.algo: system.values[measure] for system in systems}
    tested = []
    for a, b in pairs:
        one, other = values[a], values[b]
        rng = _generator(procedure.seed, dataset, measure, a, b)
        tested.append((a, b, paired_test(procedure.test, one, other, rng), rng))
    adjusted = adjust(procedure.correction, np.array([found.p for _, _, found, _ in tested]))
    return tuple(
        Pair(
            dataset, measure, a, b,
            (float(values[a].mean()), float(values[b].mean())),
            bootstrap_difference(values[a], values[b], rng),
            found, float(p), effect_size(values[a], values[b]),
            win_tie_loss(values[a], values[b]),
        )
        for (a, b, found, rng), p in zip(tested, adjusted)
    )  # fmt: skip


def marks(
    dataset: str,
    systems: Sequence[PerQuery],
    measures: Sequence[str],
    baseline: str,
    procedure: Procedure,
) -> Marks:
    """What a table marks: who differs significantly from the baseline, measure by measure."""
    signs: Mapping[tuple[str, str], int] = {
        (pair.a, measure): pair.sign(procedure.alpha)
        for measure in measures
        for pair in compare(dataset, systems, measure, baseline, procedure)
    }
    return Marks(baseline, f"p < {procedure.alpha:g}, {procedure}", signs)


def _pairs(dataset: str, algos: Sequence[str], baseline: str | None) -> list[tuple[str, str]]:
    if len(algos) < 2:
        found = algos[0] if algos else "none"
        raise UsageError(f"{dataset}: found {found}, expected two algorithms or more to compare")
    if baseline is None:
        return list(itertools.combinations(algos, 2))
    if baseline not in algos:
        raise UsageError(f"{dataset}: no results of the baseline {baseline!r}; expected one of "
                         f"{', '.join(algos)}")  # fmt: skip
    return [(algo, baseline) for algo in algos if algo != baseline]


def _generator(seed: int, *names: str) -> np.random.Generator:
    """A pair's own draws: which other pairs are compared does not matter."""
    return np.random.default_rng([seed, *(zlib.crc32(name.encode()) for name in names)])
