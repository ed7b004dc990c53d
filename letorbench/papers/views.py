"""How runs of methods are shown: NDCG@n as curves, one measure as bars, or the paper's tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from letorbench.analysis.figures import Panel, draw, write
from letorbench.analysis.published import lookup
from letorbench.analysis.tables import write_table
from letorbench.papers.figures import bars_figure, dots_figure
from letorbench.papers.paper import Paper, Part
from letorbench.papers.runs import ByMethod

#: who printed the baselines of LETOR 3.0
LETOR = "liu-book"


def files(paper: Paper, part: Part, values: Mapping[str, ByMethod], folder: Path) -> list[Path]:
    """Write the figure and the table of a part, of the first protocol; a table for each other."""
    written: list[Path] = []
    for number, (protocol, found) in enumerate(values.items()):
        stem = folder / (part.name if number == 0 else f"{part.name}-protocol-{number + 1}")
        title = part.title if number == 0 else f"{part.title}; {protocol}"
        here = {name: methods for name, methods in found.items() if methods}
        if part.form == "table":
            written += printed_table(paper, part, here, stem, title)
            continue
        rows = [
            [dataset, label, *(each.mean(m) for m in part.measures)]
            for dataset, methods in here.items()
            for label, each in methods.items()
        ]
        written += write_table(stem, title, ["data", "method", *part.measures], rows)
        if number == 0 and here:
            written += _drawn(paper, part, here, stem)
    return written


def _drawn(paper: Paper, part: Part, found: ByMethod, stem: Path) -> list[Path]:
    """The figure; with stars where the paper's text has a number, in their lines' colours."""
    if part.form == "bars":
        (measure,) = part.measures
        groups = {d: {m: v.mean(measure) for m, v in found[d].items()} for d in found}
        return bars_figure(part.title, measure.upper(), groups, stem)
    panels: dict[str, Panel] = {}
    for dataset, methods in found.items():
        for label, each in methods.items():
            version = paper.methods[label]
            title = f"{dataset}, {version.row}" if version.column else dataset
            panel = panels.setdefault(title, Panel(title, "NDCG", {}))
            curve = [each.mean(k) for k in part.measures]
            panel.curves[version.column or label] = curve  # type: ignore[index]
    panels |= {name: panel for name in part.data for panel in _letor(name, part)}
    figure = draw(list(panels.values()))
    colours = {line.get_label(): line.get_color() for axes in figure.axes for line in axes.lines}
    for axes, title in zip(figure.axes, panels):
        for (dataset, method, measure), value in paper.means.items():
            if dataset == title and method in colours:
                at = int(measure.partition("@")[2]), value
                axes.plot(*at, "*", color=colours[method], markersize=11, markeredgecolor="black")
                axes.annotate(
                    f"the paper's {method}: {value:g}", at, (8, -2), textcoords="offset points",
                    fontsize=6.5,
                )  # fmt: skip
    return write(figure, stem)


def _letor(dataset: str, part: Part) -> list[Panel]:
    """The panel of LETOR 3.0's printed baselines, from which the paper took its own."""
    rows = {
        (row.ours, int(measure.partition("@")[2])): row.value
        for measure in part.measures
        for row in lookup(dataset, measure)
        if row.source == LETOR and row.ours in part.methods
    }
    cutoffs = sorted({k for _, k in rows})
    nan = float("nan")
    curves = {
        method: [rows.get((method, k), nan) for k in cutoffs]
        for method in part.methods
        if any(name == method for name, _ in rows)
    }
    title = f"{dataset}, as LETOR 3.0 printed it"
    return [Panel(title, "NDCG", curves, cutoffs=cutoffs)] if curves else []


def printed_table(paper: Paper, part: Part, found: ByMethod, stem: Path, title: str) -> list[Path]:
    """A table in the paper's form, ours of each data set below each of its rows, and its figure.

    A row has methods side by side at the last measure, or one method at all of them. The figure has
    the leads over the first row at the last measure, the paper's and ours.
    """
    at = {(paper.methods[m].row, paper.methods[m].column): m for m in part.methods}
    names, columns = (dict.fromkeys(each) for each in zip(*at))
    asked = list(product(columns, part.measures if len(columns) == 1 else part.measures[-1:]))
    shown: dict[str, Mapping[str, float]] = {"paper": paper.printed}
    for dataset, methods in found.items():
        shown[dataset] = {
            f"{label} {measure}": each.mean(measure)
            for label, each in methods.items()
            for measure in part.measures
        }

    def cell(data: str, row: str, column: str, measure: str) -> float | None:
        return shown[data].get(f"{at.get((row, column))} {measure}")

    cells = [
        [row, data, *(cell(data, row, *of) for of in asked)] for row in names for data in shown
    ]
    header = ["row", "data", *(column or measure.upper() for column, measure in asked)]
    written = list(write_table(stem, title, header, cells))
    if found:
        first, last, panels = next(iter(names)), part.measures[-1], {}
        for column in columns:
            base = {data: cell(data, first, column, last) for data in shown}
            panels[column] = {
                data: {row: 100.0 * (value / base[data] - 1.0) for row in names  # type: ignore
                       if (value := cell(data, row, column, last)) and base[data]}
                for data in shown
            }  # fmt: skip
        x = f"lead in {last.upper()} over {first}, in %"
        written += dots_figure(title, x, list(names), panels, stem)
    return written
