"""Algorithms over several data sets: winning numbers, average ranks, Friedman and Nemenyi.

A table of values is (n_datasets, n_algorithms) float64, of one measure, where more is better.
Values that differ only by rounding are ties.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench import escaping
from letorbench.analysis import figures
from letorbench.analysis.results_table import comparable, label
from letorbench.analysis.tables import Cell, Table, columns, probability, table
from letorbench.measures import sign
from letorbench.results.dataset_results import DatasetResults
from letorbench.results.measuring import competes

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: the decimals that values are rounded to before they are compared
DECIMALS = 12
#: the most ticks of the diagram's axis
MOST_TICKS = 12


def winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) the (data set, other) pairs that each beats: T. Qin et al., LETOR, 2010."""
    values = np.round(values, DECIMALS)  # a NaN beats nothing and is not beaten
    return (values[:, :, None] > values[:, None, :]).sum(axis=(0, 2))


def ideal_winning_numbers(values: np.ndarray) -> np.ndarray:
    """(n_algorithms,) the pairs with two values, which one could beat: N. Tax et al., IPM, 2015."""
    there = ~np.isnan(values)
    others = there.sum(axis=1, keepdims=True) - 1
    return (there * others).sum(axis=0)


def ranks_of(values: np.ndarray) -> np.ndarray:
    """(n_rows, n_algorithms) float64: the ranks in each row, 1 the best, ties averaged."""
    from scipy.stats import rankdata

    return rankdata(-np.round(values, DECIMALS), axis=1)


def friedman(values: np.ndarray) -> tuple[float, float]:
    """Friedman's test of a complete table: chi-squared and p, 0 and 1 if all are always tied.

    J. Demsar: Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7, 2006.
    """
    from scipy.stats import friedmanchisquare

    values = np.round(values, DECIMALS)
    if (values == values[:, :1]).all():
        return 0.0, 1.0
    statistic, p = friedmanchisquare(*values.T)
    return float(statistic), float(p)


def critical_difference(n_algorithms: int, n_datasets: int, alpha: float = 0.05) -> float:
    """Nemenyi's critical difference of average ranks (Demsar, 2006, section 3.2.2, table 5a)."""
    from scipy.stats import studentized_range

    q = float(studentized_range.ppf(1.0 - alpha, n_algorithms, math.inf)) / math.sqrt(2.0)
    return q * math.sqrt(n_algorithms * (n_algorithms + 1) / (6.0 * n_datasets))


def tied_groups(ranks: np.ndarray, difference: float) -> tuple[tuple[int, ...], ...]:
    """The largest groups of two or more algorithms, by rank, whose ranks differ by less."""
    order = np.argsort(ranks, kind="stable")
    groups: list[tuple[int, ...]] = []
    last = 0
    for start, first in enumerate(order):
        end = int(np.flatnonzero(ranks[order] - ranks[first] < difference)[-1]) + 1
        if end - start > 1 and end > last:
            groups.append(tuple(int(i) for i in order[start:end]))
            last = end
    return tuple(groups)


@dataclass(frozen=True, eq=False)
class Overall:
    """Algorithms compared over several data sets."""

    measure: str
    datasets: tuple[str, ...]
    algos: tuple[str, ...]
    #: (n_datasets, n_algorithms) means of the folds' means, negative of an error, NaN if missing
    values: np.ndarray
    #: the algorithms that have a value on every data set, and their average ranks (n_ranked,)
    ranked: tuple[str, ...]
    ranks: np.ndarray
    #: chi-squared and p of Friedman's test, and Nemenyi's critical difference; None if there are
    #: too few algorithms or data sets
    friedman: tuple[float, float] | None
    difference: float | None


def overall(frames: Sequence[DatasetResults], measure: str) -> Overall:
    """Compare the algorithms of several data sets but `ideal`, which would win everywhere.

    A mean over fewer folds than others have is no value.
    """
    every = {row.algo: row.label.algo for frame in frames for row in frame.rows}
    algos = tuple(row for row, algo in every.items() if competes(algo))
    whole = map(comparable, frames)
    means = [{row.algo: row.values.get(measure, math.nan) for row in rows} for rows in whole]
    values = sign(measure) * np.array([[mean.get(a, math.nan) for a in algos] for mean in means])
    valued = ~np.isnan(values).all(axis=1)  # a data set without any value ranks nothing
    complete = valued.any() & ~np.isnan(values[valued]).any(axis=0)
    ranked = tuple(algo for algo, there in zip(algos, complete) if there)
    table = values[valued][:, complete]
    enough = len(ranked) >= 3 and len(table) >= 2
    return Overall(
        measure, tuple(frame.dataset for frame in frames), algos, values, ranked,
        ranks_of(table).mean(axis=0) if ranked else np.empty(0),
        friedman(table) if enough else None,
        critical_difference(len(ranked), len(table)) if enough else None,
    )  # fmt: skip


def overall_table(across: Overall) -> Table:
    """A row for each algorithm, the best rank first, with the tests below."""
    ranks = dict(zip(across.ranked, across.ranks.tolist()))
    won, ideal = winning_numbers(across.values), ideal_winning_numbers(across.values)
    every = [*zip(across.algos, won.tolist(), ideal.tolist())]
    every.sort(key=lambda row: (ranks.get(row[0], math.inf), -row[1], row[0]))
    rows = (
        (algo, Cell(f"{wins} of {most}", wins), wins / most if most else None, ranks.get(algo))
        for algo, wins, most in every
    )
    return table(
        f"{label(across.measure)} over {len(across.datasets)} data sets: "
        f"{', '.join(across.datasets)}",
        columns(["algorithm"], {"winning number": "", "normalised": ".3f", "average rank": ".2f"}),
        rows, _tests(across),
    )  # fmt: skip


def _tests(across: Overall) -> list[str]:
    if across.friedman is None or across.difference is None:
        return ["Friedman, Nemenyi: need three algorithms or more with results on every data set"]
    statistic, p = across.friedman
    groups = tied_groups(across.ranks, across.difference)
    return [
        f"Friedman: chi-squared {statistic:.2f} with {len(across.ranked) - 1} degrees, "
        f"p {probability(p)}",
        f"Nemenyi: average ranks differ significantly (p < 0.05) from {across.difference:.2f} on",
        *(
            f"  no significant difference: {', '.join(across.ranked[i] for i in group)}"
            for group in groups
        ),
    ]


def draw_ranks(names: Sequence[str], ranks: np.ndarray, difference: float) -> Figure:
    """Draw the critical-difference diagram: average ranks on a line, bars under `tied_groups`.

    It follows Demsar's figure 1. Of many algorithms the line has only the ranks that they have.
    """
    order, n = np.argsort(ranks, kind="stable"), len(ranks)
    groups = tied_groups(ranks, difference)
    left, top = -(-n // 2), len(groups) + 1  # labels on the left, and where they begin
    beside = 2 * figures.LEGEND_LETTER * (max(map(len, names)) + 6)
    width = min(max(figures.COLUMN, 1.4 + 0.05 * n + beside), figures.PAGE)
    with figures.canvas(width, 1.0 + figures.ROW * (top + left)) as (figure, (axes,)):
        from matplotlib.transforms import ScaledTranslation

        first, last = 1.0, float(n)
        if n > MOST_TICKS:
            first, last = float(np.floor(ranks.min())), float(np.ceil(ranks.max()))
            last = max(last, first + 1.0)
        ticks = np.arange(first, last + 1.0, -(-(last - first) // MOST_TICKS))
        axes.set(xlim=(first, last), ylim=(top + left, 0), xticks=ticks, yticks=[])
        axes.xaxis.tick_top()
        axes.spines[["left", "right", "bottom"]].set_visible(False)
        line: dict[str, Any] = {"color": "black", "linewidth": 0.8, "clip_on": False}
        length = min(difference, last - first)
        above = axes.transData + ScaledTranslation(0, 0.3, figure.dpi_scale_trans)
        axes.plot((first, first + length), (0, 0), marker="|", transform=above, **line)
        middle, up = (first + length / 2, 0), (0, 26)
        axes.annotate(f"CD = {difference:.2f}", middle, up, textcoords="offset points", ha="center")
        for row, group in enumerate(groups, 1):
            bar = {**line, "linewidth": 2.5, "solid_capstyle": "butt"}
            axes.plot((ranks[group[0]], ranks[group[-1]]), (row, row), **bar)
        for i, algo in enumerate(order):
            place = ranks[algo]
            row, side, where, edge = (
                (i, -1, "right", first) if i < left else (n - 1 - i, 1, "left", last)
            )
            end = edge + 0.02 * side * (last - first)
            axes.plot((place, place, end), (0, top + row, top + row), **{**line, "linewidth": 0.6})
            text = escaping.figure(f"{names[algo]}  {place:.2f}")
            beyond = end + 0.01 * side * (last - first)
            axes.text(beyond, top + row, text, ha=where, va="center")
    return figure
