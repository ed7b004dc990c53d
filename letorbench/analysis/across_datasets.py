"""Algorithms compared over several data sets by one measure, as values and as text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis import rank_tests
from letorbench.analysis.comparison_table import probability
from letorbench.analysis.rendering import render_text
from letorbench.analysis.results_table import label
from letorbench.analysis.seeds import seed_weights
from letorbench.analysis.tabular import Cell, Table, columns
from letorbench.results.measuring import competes
from letorbench.results.summary import Summary

#: what the table says where there are repeats
SEEDS = "means over seeds; ~ = other seeds could change this rank"
#: how often the seeds are drawn again
RESAMPLES = 2_000


@dataclass(frozen=True, eq=False)
class Overall:
    """What several data sets say of algorithms.

    Parameters
    ----------
    measure : str
        What the algorithms were measured by.
    datasets, algos : tuple of str
        The rows and columns of `values`.
    values : ndarray, shape (n_datasets, n_algorithms)
        Means of the folds' means, NaN where there is none.
    wins, ideal, normalised : ndarray, shape (n_algorithms,)
        Winning numbers, the largest that were possible, and their ratio.
    ranked : tuple of str
        The algorithms that have a value on every data set.
    ranks : ndarray, shape (len(ranked),)
        Their average ranks.
    friedman, difference
        Friedman's test and Nemenyi's critical difference of them; None where there are too few
        algorithms or data sets for the tests.
    spans : ndarray, shape (len(ranked), 2)
        What the average ranks become, in 95 % of the draws, where the seeds are drawn again; None
        where no algorithm has several.
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
    friedman: rank_tests.Friedman | None
    difference: float | None
    spans: np.ndarray | None

    @property
    def open(self) -> tuple[str, ...]:
        """The algorithms whose average rank other seeds could change."""
        if self.spans is None:
            return ()
        return tuple(a for a, (low, high) in zip(self.ranked, self.spans) if high > low)


def overall(summaries: Sequence[Summary], measure: str) -> Overall:
    """Compare the algorithms of several data sets by the means of the folds' means.

    The reference point `ideal` is left out: it would win everywhere.
    """
    every = dict.fromkeys(row.algo for summary in summaries for row in summary.rows)
    algos = tuple(algo for algo in every if competes(algo))
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
        rank_tests.winning_numbers(values),
        rank_tests.ideal_winning_numbers(values),
        rank_tests.normalised_winning_numbers(values),
        ranked,
        rank_tests.average_ranks(table) if ranked else np.empty(0),
        rank_tests.friedman(table) if enough else None,
        rank_tests.critical_difference(len(ranked), len(summaries)) if enough else None,
        _rank_spans(summaries, ranked, measure),
    )


def _rank_spans(
    summaries: Sequence[Summary], ranked: Sequence[str], measure: str
) -> np.ndarray | None:
    """Draw the seeds of each algorithm on each data set again; (n_algorithms, 2) ends of ranks."""
    if not any(measure in summary.drawn for summary in summaries):
        return None
    rng = np.random.default_rng(0)
    total = np.zeros((RESAMPLES, len(ranked)))
    for summary in summaries:
        rows = {row.algo: row for row in summary.rows}
        means = [np.array(rows[algo].means(measure)) for algo in ranked]
        drawn = [seed_weights(len(each), rng, RESAMPLES) @ each for each in means]
        total += rank_tests.ranks_of(np.stack(drawn, axis=1))
    return np.quantile(total / len(summaries), [0.025, 0.975], axis=0, method="nearest").T


def text(found: Overall) -> str:
    """The table as text."""
    return render_text(overall_table(found))


def overall_table(found: Overall) -> Table:
    """A row for each algorithm, the best rank first, and what the tests say below."""
    rank = dict(zip(found.ranked, found.ranks.tolist()))
    order = sorted(
        range(len(found.algos)),
        key=lambda i: (rank.get(found.algos[i], math.inf), -found.wins[i], found.algos[i]),
    )
    spans = {} if found.spans is None else dict(zip(found.ranked, found.spans.tolist()))
    rows = []
    for i in order:
        algo, share = found.algos[i], float(found.normalised[i])
        rows.append(
            (
                Cell(algo, algo),
                Cell(f"{found.wins[i]} of {found.ideal[i]}", int(found.wins[i])),
                Cell("" if math.isnan(share) else f"{share:.3f}", share),
                Cell(
                    f"{rank[algo]:.2f}" if algo in rank else "",
                    rank.get(algo),
                    open=algo in found.open,
                ),
                *([_span(spans.get(algo))] if spans else []),
            )
        )
    title = (
        f"{label(found.measure)} over {len(found.datasets)} data sets: {', '.join(found.datasets)}"
    )
    numbers = ["winning number", "normalised", "average rank"]
    heads = columns(["algorithm"], [*numbers, *(["with other seeds"] if spans else [])])
    return Table(title, heads, tuple(rows), notes=tuple(_tests(found)), seeds=SEEDS * bool(spans))


def _span(ends: Sequence[float] | None) -> Cell:
    return Cell("") if ends is None else Cell(f"{ends[0]:.2f}-{ends[1]:.2f}", ends[0])


def _tests(found: Overall) -> list[str]:
    if found.friedman is None or found.difference is None:
        return ["Friedman, Nemenyi: need three algorithms or more with results on every data set"]
    test = found.friedman
    groups = rank_tests.tied_groups(found.ranks, found.difference)
    lines = [
        f"Friedman: chi-squared {test.statistic:.2f} with {test.n_algorithms - 1} degrees, "
        f"p {probability(test.p)}",
        f"Nemenyi: average ranks differ significantly (p < 0.05) from {found.difference:.2f} on",
    ]
    return lines + [
        f"  not told apart: {', '.join(found.ranked[i] for i in group)}" for group in groups
    ]
