"""The papers' figures and tables: curves, lines, dots, bars, the answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, product
from pathlib import Path
from textwrap import fill
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from letorbench.analysis import figures
from letorbench.analysis.figures import Panel, draw, write
from letorbench.analysis.published import lookup
from letorbench.analysis.tables import write_table
from letorbench.papers.paper import Paper, Part
from letorbench.papers.records import SIGNS
from letorbench.papers.rules import SMALLER, Verdict, named
from letorbench.papers.runs import ByMethod

if TYPE_CHECKING:
    from matplotlib.axes import Axes

#: pale fills on which hatches and numbers can be read
BARS = ("#F3C9A9", "#FFFFFF", "#A9CCE3", "#F7DC9A", "#D7BDE2", "#A9DFBF")
#: the place of a legend below its panel, for lines that would hide it
BELOW: dict[str, Any] = {"loc": "upper center", "bbox_to_anchor": (0.5, -0.15), "ncols": 2}
#: the figure of answers: the end of its axis in per cent, with arrows at what is beyond; its
#: inches, the inches of a line of text, the letters of a line, their points
MOST = 25.0
NARROW, LINE, WIDTH, SMALL = 4.6, 0.145, 80, 7.0
PRINTED: dict[str, Any] = {"marker": "D", "color": "#D55E00", "markersize": 5.0,
                           "fillstyle": "none", "linestyle": ""}  # fmt: skip


@dataclass(frozen=True)
class Axis:
    """One panel with a logarithmic first axis; `log` makes both so."""

    title: str
    x: str
    y: str
    #: the x and the y of the points of each line, by name
    lines: Mapping[str, tuple[Sequence[float], Sequence[float]]]
    log: bool = False


def lines_figure(panels: Sequence[Axis], stem: Path) -> list[Path]:
    """The panels side by side, each with its legend, as stem.png, .svg and .pdf."""
    width = figures.PAGE if len(panels) > 1 else figures.COLUMN
    with figures.canvas(width, 2.9, len(panels), len(panels)) as (figure, axes):
        from matplotlib.ticker import LogLocator

        for axis, panel in zip(axes, panels):
            for i, (name, points) in enumerate(panel.lines.items()):
                axis.plot(*points, label=name, **figures.line_style(i))
            axis.set_xscale("log")
            axis.set_yscale("log" if panel.log else "linear")
            # the decades alone are too few ticks, and matplotlib's are too many
            low, high = np.log10(axis.get_xlim())
            steps = (1.0, 2.0, 5.0) if np.ceil(high) - np.floor(low) < 4 else (1.0,)
            axis.xaxis.set_major_locator(LogLocator(subs=steps))
            axis.xaxis.set_major_formatter("{x:g}")
            axis.xaxis.set_minor_formatter("")
            figures.dress(axis, panel.title, panel.x, panel.y)
            place = BELOW if panel.log else {}
            axis.legend(frameon=False, fontsize=6.5, handlelength=2.6, **place)
        return write(figure, stem)


def dots_figure(
    title: str, x: str, rows: Sequence[str],
    panels: Mapping[str, Mapping[str, Mapping[str, float]]], stem: Path,
) -> list[Path]:  # fmt: skip
    """The numbers of a table as dots: a panel per column, a mark per source, the paper first."""
    size, shared = (figures.PAGE, 1.3 + 0.19 * len(rows)), {"sharex": True, "sharey": True}
    with figures.canvas(*size, len(panels), len(panels), **shared) as (figure, axes):
        marks = {}
        for axis, (name, sources) in zip(axes, panels.items()):
            axis.axvline(0.0, color="0.5", linewidth=0.8)
            for i, (source, values) in enumerate(sources.items()):
                style: dict[str, Any] = {"marker": "Dosv^"[i % 5], "color": figures.COLOURS[i]}
                style |= {"fillstyle": "none", "markersize": 5.5} if i == 0 else {}
                at = [rows.index(row) for row in values]
                (marks[source],) = axis.plot(list(values.values()), at, linestyle="", **style)
            figures.dress(axis, name, "", "")
        axes[0].set_yticks(range(len(rows)), rows)
        axes[0].set_ylim(len(rows) - 0.5, -0.5)
        figure.suptitle(title, fontsize=8.5)
        figure.legend(
            list(marks.values()), list(marks), frameon=False, ncols=len(marks), title=x,
            loc="outside lower center", title_fontsize=8.0,
        )  # fmt: skip
        return write(figure, stem)


def bars_figure(
    title: str, y: str, groups: Mapping[str, Mapping[str, float]], stem: Path
) -> list[Path]:
    """A group of bars for each data set, with a bar for each method."""
    methods = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    width = 0.8 / len(methods)
    hatches = ("", "///", "...", "xxx", "\\\\\\", "++")
    across = figures.PAGE if len(methods) * len(groups) > 8 else figures.COLUMN
    with figures.canvas(across, 2.9) as (figure, (axis,)):
        for i, method in enumerate(methods):
            at = [g + (i - (len(methods) - 1) / 2) * width for g in range(len(groups))]
            heights = [bars.get(method, float("nan")) for bars in groups.values()]
            bars = axis.bar(
                at, heights, width, label=method, color=BARS[i % len(BARS)],
                edgecolor="black", linewidth=0.4, hatch=hatches[i % len(hatches)],
            )  # fmt: skip
            axis.bar_label(bars, fmt="%.3f", fontsize=5.5, padding=1.0, rotation=90)
        figures.dress(axis, title, "", y)
        axis.set_xticks(range(len(groups)), list(groups))
        axis.set_ylim(0.0, 1.2 * max(max(bars.values()) for bars in groups.values()))
        names = 3 if max(map(len, methods)) < 20 else 2
        figure.legend(frameon=False, ncols=names, fontsize=6.5, loc="outside lower center")
        return write(figure, stem)


class Line(NamedTuple):
    """A line of the figure of answers."""

    claim: str
    part: str
    #: in per cent
    verdict: Verdict


def answers_figure(groups: Mapping[str, Sequence[Line]], path: Path) -> Path:
    """Draw the lines of each claim below its words, narrow enough for a telephone, as a PNG."""
    verdicts = [line.verdict for lines in groups.values() for line in lines]
    ends = [abs(n) for v in verdicts for n in (v.low, v.high, v.printed or 0.0) if np.isfinite(n)]
    limit = min(MOST, 1.1 * max(2.0, *ends))
    words: list[tuple[float, str, str]] = []
    rows: list[tuple[float, Line]] = []
    y = 0.0  # in lines of text
    for group, lines in groups.items():
        if group:
            words.append((y, fill(group, WIDTH), "bold"))
            y += 1.6 + words[-1][1].count("\n")
        for claim, parts in groupby(lines, key=lambda line: line.claim):
            words.append((y, fill(claim, WIDTH), "normal"))
            y += 1.1 + 0.8 * words[-1][1].count("\n")
            for line in parts:
                rows.append((y, line))
                y += 1.0
            y += 0.6
    with figures.canvas(NARROW, 0.7 + LINE * y) as (figure, (axis,)):
        from matplotlib.transforms import blended_transform_factory

        axis.axvspan(-1.0, 1.0, color="0.93", zorder=0)
        axis.axvline(0.0, color="0.5", linewidth=0.8, zorder=0)
        for at, line in rows:
            _draw(axis, at, line.verdict, limit)
        across = blended_transform_factory(figure.transFigure, axis.transData)
        for at, text, weight in words:
            axis.text(
                0.01, at - 0.5, text, transform=across, va="top", fontsize=SMALL, fontweight=weight,
                in_layout=False, zorder=5, linespacing=1.05,
                bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.5},
            )  # fmt: skip
        axis.set_yticks([at for at, _ in rows], [line.part for _, line in rows], fontsize=SMALL)
        axis.set_ylim(y - 0.8, -0.8)
        axis.set_xlim(-1.04 * limit, 1.04 * limit)
        figure.supxlabel("lead, or how far a number is from the printed one, in %", fontsize=SMALL)
        style: dict[str, Any] = {"color": "black", "linewidth": 1.4, "markersize": 3.5}
        marks = [
            axis.plot([], [], "o", label="ours", **style | {"linewidth": 0.0})[0],
            axis.plot([], [], "-", label="95 % interval", **style)[0],
            axis.plot([], [], label="the paper's", **PRINTED)[0],
            axis.axvspan(0.0, 0.0, color="0.88", label="within 1 %"),
        ]
        figure.legend(handles=marks, frameon=False, ncols=4, fontsize=SMALL,
                      loc="outside upper center", handletextpad=0.4, columnspacing=1.2)  # fmt: skip
        axis.tick_params(axis="x", labelsize=SMALL)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
        return write(figure, path, ("png",))[0]


def _draw(axis: Axes, y: float, each: Verdict, limit: float) -> None:
    """Draw the interval, arrows where it is beyond the limit, the paper's number and the answer."""
    low, high = np.clip([each.low, each.high], -limit, limit)
    axis.plot([low, high], [y, y], color="black", linewidth=1.4, zorder=2, solid_capstyle="butt")
    if abs(each.value) <= limit:
        axis.plot(each.value, y, "o", color="black", markersize=3.5, zorder=3)
    elif np.isfinite(each.value):
        at, end = (0.94, "right") if each.value > 0.0 else (-0.94, "left")
        behind = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}  # a line that ends there
        place, text = (at * limit, y), f"{each.value:+.0f} %"
        axis.text(*place, text, ha=end, va="center", fontsize=SMALL, bbox=behind)
    if each.low < -limit:
        axis.plot(-limit, y, "<", color="black", markersize=4.0)
    if each.high > limit:
        axis.plot(limit, y, ">", color="black", markersize=4.0)
    if each.printed is not None:
        at = float(np.clip(each.printed, -limit, limit))
        axis.plot(at, y, zorder=4, **PRINTED)
    edge, (_, colour) = axis.get_yaxis_transform(), SIGNS.get(named(each.answer), SIGNS[SMALLER])
    axis.text(1.01, y, each.answer, transform=edge, va="center", fontsize=SMALL, color=colour)


#: the source of the baselines of LETOR 3.0
LETOR = "liu-book"


def files(paper: Paper, part: Part, values: Mapping[str, ByMethod], folder: Path) -> list[Path]:
    """Write the figure and the table of the first protocol, and a table for each other one."""
    written: list[Path] = []
    for number, (protocol, by_dataset) in enumerate(values.items()):
        stem = folder / (part.name if number == 0 else f"{part.name}-protocol-{number + 1}")
        title = part.title if number == 0 else f"{part.title}; {protocol}"
        here = {name: methods for name, methods in by_dataset.items() if methods}
        if part.form == "table":
            written += printed_table(paper, part, here, stem, title)
            continue
        rows = [
            [dataset, label, *(each.mean(m) for m in part.measures)]
            for dataset, methods in here.items() for label, each in methods.items()
        ]  # fmt: skip
        written += write_table(stem, title, ["data", "method", *part.measures], rows)
        written += _drawn(paper, part, here, stem) if number == 0 and here else []
    return written


def _drawn(paper: Paper, part: Part, by_dataset: ByMethod, stem: Path) -> list[Path]:
    """The figure, with a star in the colour of its line for each number in the paper's text."""
    if part.form == "bars":
        (measure,) = part.measures
        groups = {d: {m: v.mean(measure) for m, v in by_dataset[d].items()} for d in by_dataset}
        return bars_figure(part.title, measure.upper(), groups, stem)
    panels: dict[str, Panel] = {}
    for dataset, methods in by_dataset.items():
        for label, each in methods.items():
            version = paper.methods[label]
            title = f"{dataset}, {version.row}" if version.column else dataset
            panel = panels.setdefault(title, Panel(title, "NDCG", {}))
            curve = [each.mean(k) for k in part.measures]
            panel.curves[version.column or label] = curve  # type: ignore[index]
    panels |= {name: panel for name in part.data for panel in letor_panel(name, part)}
    figure = draw(list(panels.values()))
    colours = {line.get_label(): line.get_color() for axes in figure.axes for line in axes.lines}
    for test in (t for claim in paper.claims for t in claim.tests if t.kind == "equal"):
        for dataset, measure in product(test.data, test.measures):
            if dataset in panels and test.number in colours and test.printed is not None:
                axes, colour = figure.axes[list(panels).index(dataset)], colours[test.number]
                at = int(measure.partition("@")[2]), test.printed
                axes.plot(*at, "*", color=colour, markersize=11, markeredgecolor="black")
                text = f"the paper's {test.number}: {test.printed:g}"
                axes.annotate(text, at, (8, -2), textcoords="offset points", fontsize=6.5)
    return write(figure, stem)


def letor_panel(dataset: str, part: Part) -> list[Panel]:
    """The panel of the baselines that LETOR 3.0 prints, from which the paper took its own."""
    rows = {
        (row.ours, int(measure.partition("@")[2])): row.value
        for measure in part.measures for row in lookup(dataset, measure)
        if row.source == LETOR and row.ours in part.methods
    }  # fmt: skip
    cutoffs, printed = sorted({k for _, k in rows}), {name for name, _ in rows}
    curves = {
        method: [rows.get((method, k), float("nan")) for k in cutoffs]
        for method in part.methods if method in printed
    }  # fmt: skip
    title = f"{dataset}, as LETOR 3.0 printed it"
    return [Panel(title, "NDCG", curves, cutoffs=cutoffs)] if curves else []


def printed_table(
    paper: Paper, part: Part, by_dataset: ByMethod, stem: Path, title: str
) -> list[Path]:
    """The paper's table with our numbers of each data set below each of its rows, and a figure.

    A row has several methods at the last measure, or one method at all measures.
    """
    at = {(paper.methods[m].row, paper.methods[m].column): m for m in part.methods}
    names, columns = (dict.fromkeys(each) for each in zip(*at))
    wanted = list(product(columns, part.measures if len(columns) == 1 else part.measures[-1:]))
    shown: dict[str, Mapping[str, float]] = {"paper": paper.printed}
    for dataset, methods in by_dataset.items():
        shown[dataset] = {
            f"{label} {measure}": each.mean(measure)
            for label, each in methods.items() for measure in part.measures
        }  # fmt: skip

    def cell(data: str, row: str, column: str, measure: str) -> float | None:
        return shown[data].get(f"{at.get((row, column))} {measure}")

    cells = [
        [row, data, *(cell(data, row, *of) for of in wanted)] for row in names for data in shown
    ]
    header = ["row", "data", *(column or measure.upper() for column, measure in wanted)]
    written = list(write_table(stem, title, header, cells))
    if by_dataset:
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
