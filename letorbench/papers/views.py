"""How runs of methods are shown: NDCG@n as curves, one measure as bars, or the paper's tables."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import product
from pathlib import Path

from letorbench.analysis.figures import Panel, draw, write
from letorbench.analysis.tables import write_table
from letorbench.papers.line_figures import bars_figure
from letorbench.papers.paper import Paper, Part
from letorbench.papers.records import markdown, write_file
from letorbench.papers.runs import ByMethod


def files(paper: Paper, part: Part, values: Mapping[str, ByMethod], folder: Path) -> list[Path]:
    """Write the figure and the table of a part, of the first protocol; a table for each other."""
    written: list[Path] = []
    for number, (protocol, found) in enumerate(values.items()):
        stem = folder / (part.name if number == 0 else f"{part.name}-protocol-{number + 1}")
        title = part.title if number == 0 else f"{part.title}; {protocol}"
        if part.form == "table":
            written += printed_table(paper, part, found, stem, title)
            continue
        rows = [
            [dataset, label, *(each.mean(m) for m in part.measures)]
            for dataset, methods in found.items()
            for label, each in methods.items()
        ]
        written += write_table(stem, title, ["data", "method", *part.measures], rows)
        here = {name: methods for name, methods in found.items() if methods}
        if number == 0 and here:
            written += _drawn(paper, part, here, stem)
    return written


def _drawn(paper: Paper, part: Part, found: ByMethod, stem: Path) -> list[Path]:
    """The figure; with stars where the paper's text has a number, in their lines' colours."""
    if part.form == "bars":
        (measure,) = part.measures
        groups = {d: {m: v.mean(measure) for m, v in found[d].items()} for d in found}
        return bars_figure(part.title, measure.upper(), groups, stem)
    panels: dict[str, dict[str, list[float]]] = {}
    for dataset, methods in found.items():
        for label, each in methods.items():
            version = paper.methods[label]
            title = f"{dataset}, {version.row}" if version.column else dataset
            curve = [each.mean(k) for k in part.measures]
            panels.setdefault(title, {})[version.column or label] = curve
    figure = draw([Panel(title, "NDCG", curves) for title, curves in panels.items()])
    for axes, title in zip(figure.axes, panels):
        colours = {line.get_label(): line.get_color() for line in axes.lines}
        for (dataset, method, measure), value in paper.means.items():
            if dataset == title and method in colours:
                at = int(measure.partition("@")[2]), value
                axes.plot(*at, "*", color=colours[method], markersize=11, markeredgecolor="black")
                axes.annotate(
                    f"the paper's {method}: {value:g}", at, (8, -2), textcoords="offset points",
                    fontsize=6.5,
                )  # fmt: skip
    return write(figure, stem)


def printed_table(paper: Paper, part: Part, found: ByMethod, stem: Path, title: str) -> list[Path]:
    """A table in the paper's form, ours of each data set below each of its rows, with its section.

    A row has methods side by side at the last measure, or one method at all of them.
    """
    at = {(paper.methods[m].row, paper.methods[m].column): m for m in part.methods}
    columns = dict.fromkeys(column for _, column in at)
    asked = list(product(columns, part.measures if len(columns) == 1 else part.measures[-1:]))
    shown: dict[str, Mapping[str, float]] = {"paper": paper.printed}
    for dataset, methods in found.items():
        shown[dataset] = {
            f"{label} {measure}": each.mean(measure)
            for label, each in methods.items()
            for measure in part.measures
        }
    cells = [
        [row, name, *(of.get(f"{at.get((row, each))} {measure}") for each, measure in asked)]
        for row in dict.fromkeys(row for row, _ in at)
        for name, of in shown.items()
    ]
    header = ["row", "data", *(column or measure.upper() for column, measure in asked)]
    section = f"## {title}\n\n{markdown(header, cells)}"
    return [*write_table(stem, title, header, cells), write_file(stem.with_suffix(".md"), section)]
