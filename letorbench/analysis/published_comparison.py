"""Published figures beside ours: the difference, fold by fold where they are printed so."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from letorbench.analysis.figures import Panel
from letorbench.analysis.published import Published, lookup
from letorbench.analysis.rendering import render as render_table
from letorbench.analysis.results_table import caption, label, partial_note, spread
from letorbench.analysis.tabular import Cell, Table, Value, columns, data_table
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Summary

DATA = ("dataset", "algo", "measure", "fold", "ours", "sd", "published", "difference", "source",
        "algorithm_there", "note", "reference")  # fmt: skip
FOLDS_DATA = ("dataset", "measure", "algo", "algorithm_there", "folds", "mean", "published",
              "difference", "low", "high", "source")  # fmt: skip
#: what a table says of our numbers beside those of single runs
SEEDS = "ours: mean ± standard deviation over seeds; published: as printed, of single runs"


@dataclass(frozen=True)
class Beside:
    """A published figure and ours of the same method, None where ours was not run.

    `deviation` is ours over seeds, None where there are no repeats; `by_fold` is ours by the
    fold's number, empty where the folds are not published.
    """

    algo: str
    measure: str
    ours: float | None
    printed: Published
    deviation: float | None = None
    by_fold: Mapping[int, float] = field(default_factory=dict)

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - self.printed.value

    @property
    def printed_folds(self) -> dict[int, float]:
        """The published figure of each fold that ours has."""
        folds = dict(enumerate(self.printed.folds.get("test", ()), 1))
        return {number: folds[number] for number in self.by_fold if number in folds}

    @property
    def fold_differences(self) -> dict[int, float]:
        """Ours less the published figure, by the fold's number."""
        return {k: self.by_fold[k] - printed for k, printed in self.printed_folds.items()}


def published_by_fold(summary: Summary, measures: Sequence[str]) -> list[str]:
    """The algorithms of ours that have figures published by fold at any of these measures."""
    rows = [row for measure in measures for row in lookup(summary.dataset, measure) if row.folds]
    printed = {row.ours for row in rows}
    return [row.algo for row in summary.rows if row.algo in printed]


def beside(
    summary: Summary, measures: Sequence[str], systems: Sequence[PerQuery] = ()
) -> list[Beside]:
    """What is published of the data set at these measures, our algorithms first.

    systems: ours of `published_by_fold`, by query.
    """
    ours = {row.algo: row for row in summary.rows}
    by_query = {system.algo: system for system in systems}
    found = []
    for measure in measures:
        for printed in lookup(summary.dataset, measure):
            name, row = printed.ours or printed.algorithm, ours.get(printed.ours or "")
            value = row.values.get(measure) if row else None
            split = printed.folds and name in by_query
            folds = by_query[name].fold_means(measure) if split else {}
            deviation = row and row.deviation(measure)
            found.append(Beside(name, measure, value, printed, deviation, folds))
    order = {algo: i for i, algo in enumerate(ours)}
    return sorted(found, key=lambda each: (order.get(each.algo, len(order)), each.algo))


def render(
    summary: Summary, measures: Sequence[str], form: str, systems: Sequence[PerQuery] = ()
) -> str:
    """The comparison in a form of `rendering.FORMATS`, its sources below."""
    found = beside(summary, measures, systems)
    if form == "csv":
        return render_table(published_data(summary, found), form)
    if not found:
        return f"{summary.dataset}: nothing is published at {', '.join(map(label, measures))}\n"
    return render_table(published_table(summary, found), form)


def render_folds(
    summary: Summary, measure: str, form: str, systems: Sequence[PerQuery] = ()
) -> str:
    """Ours against what is published by fold, in a form of `rendering.FORMATS`."""
    found = [each for each in beside(summary, [measure], systems) if each.fold_differences]
    if form == "csv":
        return render_table(folds_data(summary, found), form)
    if not found:
        return f"{summary.dataset}: nothing of these is published by fold at {label(measure)}\n"
    return render_table(folds_table(summary, found), form)


def published_table(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for people, with a note for each source."""
    numbers = sorted({number for each in found for number in each.fold_differences})
    partial = partial_note(summary.only([each.algo for each in found]))
    heads = columns(["algorithm", "measure"], ["ours", "published", "difference"])
    folds = columns((), [f"fold {number}" for number in numbers])
    return Table(
        caption(summary) + "; folds: the difference there" * bool(numbers),
        (*heads, *folds, *columns(["source"])),
        tuple(_row(each, numbers) for each in found),
        notes=tuple(filter(None, (partial, *_sources(found)))),
        seeds=SEEDS if any(each.deviation is not None for each in found) else "",
    )


def published_data(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for programs: every digit, the published number as it was printed.

    The row of a mean has no fold; those of its folds, where there are any, follow it.
    """
    rows: list[list[Value]] = []
    for each in found:
        printed, folds = each.printed, each.printed_folds
        head: list[Value] = [summary.dataset, each.algo, each.measure]
        numbers: list[list[Value]] = [
            [None, each.ours, each.deviation, printed.printed, each.difference],
            *(
                [number, each.by_fold[number], None, f"{folds[number]:.4f}", difference]
                for number, difference in each.fold_differences.items()
            ),
        ]
        tail = [printed.source, printed.algorithm, printed.note, printed.reference]
        rows += [[*head, *row, *tail] for row in numbers]
    return data_table(DATA, rows)


def folds_table(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for people: a row a system, with the spread of its difference over the folds."""
    numbers = sorted({number for each in found for number in each.fold_differences})
    heads = columns(["algorithm", "against"], ["mean", "other", "difference", "95 % interval"])
    measure = label(found[0].measure)
    rules = ", ".join(summary.conventions)
    return Table(
        f"{summary.dataset}, {measure} [{rules}]: ours less what is published, fold by fold; "
        "interval of the mean by Student's t over the folds; * = 0 is outside",
        (*heads, *columns((), [f"fold {number}" for number in numbers])),
        tuple(_folds_row(each, numbers) for each in found),
        notes=_sources(found),
    )


def folds_data(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for programs; `table --published --format csv` has the folds themselves."""
    rows: list[list[Value]] = []
    for each in found:
        mean, low, high = _interval(each)
        ours, other = (float(np.mean(list(folds.values()))) for folds in _sides(each))
        printed, count = each.printed, len(each.fold_differences)
        rows.append([summary.dataset, each.measure, each.algo, printed.algorithm, count, ours,
                     other, mean, low, high, printed.source])  # fmt: skip
    return data_table(FOLDS_DATA, rows)


def with_published(panel: Panel, dataset: str, measure: str) -> Panel:
    """The panel with a line for every published method; NaN where a cut-off was not printed."""
    curves = {name: list(curve) for name, curve in panel.curves.items()}
    for k in range(1, 11):
        for row in lookup(dataset, f"{measure}@{k}"):
            name = f"{row.algorithm} ({row.source})"
            curves.setdefault(name, [math.nan] * 10)[k - 1] = row.value
    return Panel(panel.title, panel.measure, curves, panel.spreads)


def _row(each: Beside, numbers: Sequence[int]) -> tuple[Cell, ...]:
    printed = each.printed
    return (
        Cell(each.algo, each.algo),
        Cell(label(each.measure), each.measure),
        Cell(
            "" if each.ours is None else f"{each.ours:.4f}",
            each.ours,
            spread=spread(each.deviation),
        ),
        Cell(printed.printed, printed.value),
        _signed(each.difference, max(len(printed.printed.partition(".")[2]), 3)),
        *(_signed(each.fold_differences.get(number)) for number in numbers),
        Cell(printed.source, printed.source),
    )


def _folds_row(each: Beside, numbers: Sequence[int]) -> tuple[Cell, ...]:
    ours, other = (float(np.mean(list(folds.values()))) for folds in _sides(each))
    mean, low, high = _interval(each)
    interval = "" if low is None or high is None else f"[{low:+.4f}, {high:+.4f}]"
    outside = low is not None and high is not None and low * high > 0.0
    against = f"{each.printed.algorithm} ({each.printed.source})"
    return (
        Cell(each.algo, each.algo),
        Cell(against, against),
        Cell(f"{ours:.4f}", ours),
        Cell(f"{other:.4f}", other),
        _signed(mean),
        Cell(interval, low, starred=outside),
        *(_signed(each.fold_differences.get(number)) for number in numbers),
    )


def _sides(each: Beside) -> tuple[Mapping[int, float], Mapping[int, float]]:
    """Ours and the published figures of the folds that both have."""
    return {number: each.by_fold[number] for number in each.printed_folds}, each.printed_folds


def _interval(each: Beside) -> tuple[float, float | None, float | None]:
    """The mean difference of the folds and its 95 % interval, None for a single fold."""
    from scipy.special import stdtrit

    values = np.array(list(each.fold_differences.values()))
    mean = float(values.mean())
    if len(values) < 2:
        return mean, None, None
    reach = float(stdtrit(len(values) - 1, 0.975) * values.std(ddof=1) / np.sqrt(len(values)))
    return mean, mean - reach, mean + reach


def _signed(difference: float | None, places: int = 4) -> Cell:
    return Cell("" if difference is None else f"{difference:+.{places}f}", difference)


def _sources(found: Sequence[Beside]) -> tuple[str, ...]:
    """A line for each source: its short name and how one cites it."""
    sources = {each.printed.source: each.printed.reference for each in found}
    return tuple(f"{name}: {reference}" for name, reference in sources.items())
