"""Published figures beside ours: the difference, and where each was printed."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Sequence
from dataclasses import dataclass

from letorbench.analysis.cells import caption, label
from letorbench.analysis.comparison_text import aligned
from letorbench.analysis.latex import escape
from letorbench.analysis.plots import Panel
from letorbench.analysis.published import Published, lookup
from letorbench.results.summary import Summary

HEADER = ("algorithm", "measure", "ours", "published", "difference", "source")


@dataclass(frozen=True)
class Beside:
    """One published figure and ours of the same method, None where it was not run."""

    algo: str
    measure: str
    ours: float | None
    printed: Published

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - self.printed.value


def beside(summary: Summary, measures: Sequence[str]) -> list[Beside]:
    """What is published of the data set at these measures, our algorithms' first."""
    ours = {row.algo: row.values for row in summary.rows}
    found = [
        Beside(row.ours or row.algorithm, measure, ours.get(row.ours or "", {}).get(measure), row)
        for measure in measures
        for row in lookup(summary.dataset, measure)
    ]
    order = {algo: i for i, algo in enumerate(ours)}
    return sorted(found, key=lambda each: (order.get(each.algo, len(order)), each.algo))


def render(summary: Summary, measures: Sequence[str], form: str) -> str:
    """The comparison as text, csv, markdown or latex, its sources below."""
    found = beside(summary, measures)
    if form == "csv":
        return _csv(summary, found)
    if not found:
        return f"{summary.dataset}: nothing is published at {', '.join(map(label, measures))}\n"
    rows = [_cells(each) for each in found]
    sources = {each.printed.source: each.printed.reference for each in found}
    notes = [f"{name}: {reference}" for name, reference in sources.items()]
    if form == "latex":
        return _latex(summary, rows, notes)
    if form == "markdown":
        rule = ["---", "---", "---:", "---:", "---:", "---"]
        lines = ["| " + " | ".join(line) + " |" for line in [HEADER, rule, *rows]]
        return "\n".join([caption(summary), "", *lines, "", *(f"- {n}" for n in notes)]) + "\n"
    return "\n".join([caption(summary), aligned(HEADER, rows, 2), *notes]) + "\n"


def with_published(panel: Panel, dataset: str, measure: str) -> Panel:
    """The panel with a line for every published method; NaN where a cut-off was not printed."""
    curves = dict(panel.curves)
    for k in range(1, 11):
        for row in lookup(dataset, f"{measure}@{k}"):
            name = f"{row.algorithm} ({row.source})"
            curves.setdefault(name, [math.nan] * 10)[k - 1] = row.value
    return Panel(panel.title, panel.measure, curves)


def _cells(each: Beside) -> list[str]:
    places = len(each.printed.printed.partition(".")[2])
    ours = "" if each.ours is None else f"{each.ours:.4f}"
    difference = "" if each.difference is None else f"{each.difference:+.{max(places, 3)}f}"
    return [
        each.algo, label(each.measure), ours, each.printed.printed, difference, each.printed.source
    ]  # fmt: skip


def _csv(summary: Summary, found: Sequence[Beside]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(
        ["dataset", "algo", "measure", "ours", "published", "difference",
         "source", "algorithm_there", "note", "reference"]
    )  # fmt: skip
    for each in found:
        numbers = ["" if x is None else repr(x) for x in (each.ours, each.difference)]
        row = each.printed
        writer.writerow(
            [summary.dataset, each.algo, each.measure, numbers[0], row.printed, numbers[1],
             row.source, row.algorithm, row.note, row.reference]
        )  # fmt: skip
    return file.getvalue()


def _latex(summary: Summary, rows: Sequence[Sequence[str]], notes: Sequence[str]) -> str:
    lines = [" & ".join(map(escape, line)) + r" \\" for line in [HEADER, *rows]]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{escape('. '.join([caption(summary), *notes]))}}}",
            r"\begin{tabular}{llrrrl}",
            r"\toprule",
            lines[0],
            r"\midrule",
            *lines[1:],
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    ) + "\n"  # fmt: skip
