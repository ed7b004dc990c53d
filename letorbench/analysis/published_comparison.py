"""Published figures beside ours: the difference, and where each was printed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from letorbench.analysis.figures import Panel
from letorbench.analysis.published import Published, lookup
from letorbench.analysis.rendering import render as render_table
from letorbench.analysis.results_table import caption, label, spread
from letorbench.analysis.tabular import Cell, Table, columns, data_table
from letorbench.results.summary import Summary

DATA = ("dataset", "algo", "measure", "ours", "sd", "published", "difference", "source",
        "algorithm_there", "note", "reference")  # fmt: skip
#: what a table says of our numbers beside those of single runs
SEEDS = "ours: mean ± standard deviation over seeds; published: as printed, of single runs"


@dataclass(frozen=True)
class Beside:
    """A published figure and ours of the same method, None where ours was not run.

    `deviation` is ours over seeds, None where there are no repeats.
    """

    algo: str
    measure: str
    ours: float | None
    printed: Published
    deviation: float | None = None

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - self.printed.value


def beside(summary: Summary, measures: Sequence[str]) -> list[Beside]:
    """What is published of the data set at these measures, our algorithms first."""
    ours = {row.algo: row for row in summary.rows}
    found = []
    for measure in measures:
        for printed in lookup(summary.dataset, measure):
            name, row = printed.ours or printed.algorithm, ours.get(printed.ours or "")
            value = row.values.get(measure) if row else None
            found.append(Beside(name, measure, value, printed, row and row.deviation(measure)))
    order = {algo: i for i, algo in enumerate(ours)}
    return sorted(found, key=lambda each: (order.get(each.algo, len(order)), each.algo))


def render(summary: Summary, measures: Sequence[str], form: str) -> str:
    """The comparison in a form of `rendering.FORMATS`, its sources below."""
    found = beside(summary, measures)
    if form == "csv":
        return render_table(published_data(summary, found), form)
    if not found:
        return f"{summary.dataset}: nothing is published at {', '.join(map(label, measures))}\n"
    return render_table(published_table(summary, found), form)


def published_table(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for people, with a note for each source."""
    sources = {each.printed.source: each.printed.reference for each in found}
    heads = columns(["algorithm", "measure"], ["ours", "published", "difference"])
    return Table(
        caption(summary),
        (*heads, *columns(["source"])),
        tuple(_row(each) for each in found),
        notes=tuple(f"{name}: {reference}" for name, reference in sources.items()),
        seeds=SEEDS if any(each.deviation is not None for each in found) else "",
    )


def published_data(summary: Summary, found: Sequence[Beside]) -> Table:
    """The table for programs: every digit, the published number as it was printed."""
    rows = [
        [
            summary.dataset, each.algo, each.measure, each.ours, each.deviation,
            each.printed.printed, each.difference, each.printed.source, each.printed.algorithm,
            each.printed.note, each.printed.reference,
        ]
        for each in found
    ]  # fmt: skip
    return data_table(DATA, rows)


def with_published(panel: Panel, dataset: str, measure: str) -> Panel:
    """The panel with a line for every published method; NaN where a cut-off was not printed."""
    curves = {name: list(curve) for name, curve in panel.curves.items()}
    for k in range(1, 11):
        for row in lookup(dataset, f"{measure}@{k}"):
            name = f"{row.algorithm} ({row.source})"
            curves.setdefault(name, [math.nan] * 10)[k - 1] = row.value
    return Panel(panel.title, panel.measure, curves, panel.spreads)


def _row(each: Beside) -> tuple[Cell, ...]:
    printed = each.printed
    places = max(len(printed.printed.partition(".")[2]), 3)
    return (
        Cell(each.algo, each.algo),
        Cell(label(each.measure), each.measure),
        Cell(
            "" if each.ours is None else f"{each.ours:.4f}",
            each.ours,
            spread=spread(each.deviation),
        ),
        Cell(printed.printed, printed.value),
        Cell("" if each.difference is None else f"{each.difference:+.{places}f}", each.difference),
        Cell(printed.source, printed.source),
    )
