"""Algorithms over several data sets by one measure: winning numbers, ranks, Friedman, Nemenyi."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis import across
from letorbench.analysis.cells import label
from letorbench.analysis.comparison_text import aligned, probability
from letorbench.results.summary import Summary


@dataclass(frozen=True, eq=False)
class Overall:
    """What several data sets say of algorithms; values (n_datasets, n_algorithms), NaN missing.

    ranks, friedman and difference (Nemenyi's) are of the algorithms in `ranked`, those with a
    value on every data set; None where there are too few for the test.
    """

    measure: str
    datasets: tuple[str, ...]
    algos: tuple[str, ...]
    values: np.ndarray
    wins: np.ndarray
    ideal: np.ndarray
    normalised: np.ndarray
    ranked: tuple[str, ...]
    ranks: np.ndarray
    friedman: across.Friedman | None
    difference: float | None


def overall(summaries: Sequence[Summary], measure: str) -> Overall:
    """Compare the means of the folds' means of all data sets."""
    algos = tuple(dict.fromkeys(row.algo for summary in summaries for row in summary.rows))
    found = [{row.algo: row.values.get(measure) for row in s.rows} for s in summaries]
    values = np.array(
        [[math.nan if each.get(a) is None else each[a] for a in algos] for each in found]
    )
    whole = ~np.isnan(values).any(axis=0)
    ranked = tuple(algo for algo, there in zip(algos, whole) if there)
    table = values[:, whole]
    enough = len(ranked) >= 3 and len(summaries) >= 2
    return Overall(
        measure,
        tuple(summary.dataset for summary in summaries),
        algos,
        values,
        across.winning_numbers(values),
        across.ideal_winning_numbers(values),
        across.normalised_winning_numbers(values),
        ranked,
        across.average_ranks(table) if ranked else np.empty(0),
        across.friedman(table) if enough else None,
        across.critical_difference(len(ranked), len(summaries)) if enough else None,
    )


def text(found: Overall) -> str:
    """A row an algorithm, the best rank first, and what the tests say below."""
    rank = dict(zip(found.ranked, found.ranks.tolist()))
    order = sorted(
        range(len(found.algos)),
        key=lambda i: (rank.get(found.algos[i], math.inf), -found.wins[i], found.algos[i]),
    )
    rows = [
        [
            found.algos[i],
            f"{found.wins[i]} of {found.ideal[i]}",
            "" if math.isnan(found.normalised[i]) else f"{found.normalised[i]:.3f}",
            f"{rank[found.algos[i]]:.2f}" if found.algos[i] in rank else "",
        ]
        for i in order
    ]
    header = ("algorithm", "winning number", "normalised", "average rank")
    title = (
        f"{label(found.measure)} over {len(found.datasets)} data sets: {', '.join(found.datasets)}"
    )
    return "\n".join([title, aligned(header, rows), *_tests(found)]) + "\n"


def _tests(found: Overall) -> list[str]:
    if found.friedman is None or found.difference is None:
        return ["Friedman, Nemenyi: need three algorithms or more with results on every data set"]
    test = found.friedman
    groups = across.alike(found.ranks, found.difference)
    lines = [
        f"Friedman: chi-squared {test.statistic:.2f} with {test.n_algorithms - 1} degrees, "
        f"p {probability(test.p)}",
        f"Nemenyi: average ranks differ significantly (p < 0.05) from {found.difference:.2f} on",
    ]
    return lines + [
        f"  not told apart: {', '.join(found.ranked[i] for i in group)}" for group in groups
    ]
