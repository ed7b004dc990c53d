"""Where a number stands between a random order and the ideal one.

The two reference points are computed from the data, whether or not they were run.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.measures import Measure, parse, query_metrics
from letorbench.measures.random_order import random_order_metrics
from letorbench.results.score_frames import data_of
from letorbench.results.summary import Row, Summary, require_folds

#: the ranker that reads the labels which it is measured by
IDEAL = "ideal"


def competes(algo: str) -> bool:
    """Return whether an algorithm is ranked and compared: `ideal` reads the test labels."""
    return algo != IDEAL


def relative_summary(
    out: Path, data_dir: Path, summary: Summary, measures: Sequence[str]
) -> Summary:
    """Return the summary with each number as its share of the way from random to ideal.

    0 is the mean over all orders of each query's documents, 1 the order of their labels, each on
    the row's own folds: (value - random) / (ideal - random), for the means of the folds' means. A
    number is left out where both are equal.
    """
    asked = [parse(name) for name in measures]
    known: dict[tuple[str, int], np.ndarray] = {}

    def row(each: Row) -> Row:
        folds = require_folds(out, summary.dataset, each.algo)
        numbers = sorted({fold.number for fold in folds})
        if any((each.convention, number) not in known for number in numbers):
            benchmark = data_of(data_dir, summary.dataset, folds)
            for fold in benchmark.folds:
                both = _both(fold.test, asked, benchmark.convention)
                known[each.convention, fold.number] = both
        low, high = np.mean([known[each.convention, number] for number in numbers], axis=0)
        ends = {name: (a, b) for name, a, b in zip(measures, low.tolist(), high.tolist()) if b > a}
        return replace(
            each,
            values={n: _share(v, *ends[n]) for n, v in each.values.items() if n in ends},
            repeated={
                n: tuple(_share(v, *ends[n]) for v in values)
                for n, values in each.repeated.items()
                if n in ends
            },
        )

    return replace(summary, rows=tuple(row(each) for each in summary.rows), relative=True)


def _both(test: QuerySet, measures: Sequence[Measure], rules: Convention) -> np.ndarray:
    """Return the means (2, n_measures) of a random and of the ideal order."""
    ideal = query_metrics(test.labels, test.labels, test.offsets, measures, rules)
    chance = random_order_metrics(test.labels, test.offsets, measures, rules)
    return np.stack([chance.mean(axis=0), ideal.mean(axis=0)])


def _share(value: float, low: float, high: float) -> float:
    return (value - low) / (high - low)
