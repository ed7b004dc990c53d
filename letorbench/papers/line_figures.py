"""The papers' figures that are not plain curves over n: bands, log-log lines, bars."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from letorbench.analysis.figures import COLUMN, PAGE, fixed_style, line_style, write

if TYPE_CHECKING:
    import numpy as np
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


#: pale fills on which hatches and numbers can be read
BARS = ("#F3C9A9", "#FFFFFF", "#A9CCE3", "#F7DC9A", "#D7BDE2", "#A9DFBF")
#: a legend of more lines stands below its panel
MOST_INSIDE = 5


@dataclass(frozen=True)
class Line:
    """Points of one line, with bars from `low` to `high` where those are given."""

    x: Sequence[float] | np.ndarray
    y: Sequence[float] | np.ndarray
    low: Sequence[float] = ()
    high: Sequence[float] = ()


@dataclass(frozen=True)
class Axis:
    """One panel of lines by name; `log` makes both axes logarithmic, `log_x` the first.

    span: a range of y that is shaded, and what it is called.
    """

    title: str
    x: str
    y: str
    lines: Mapping[str, Line]
    log: bool = False
    note: str = ""
    log_x: bool = False
    span: tuple[float, float, str] | None = None


def lines_figure(panels: Sequence[Axis], stem: Path) -> list[Path]:
    """The panels side by side, each with its legend inside, as stem.png, .svg and .pdf."""
    with fixed_style():
        figure, axes = _figure(len(panels))
        for axis, panel in zip(axes, panels):
            for i, (name, line) in enumerate(panel.lines.items()):
                style = line_style(i)
                axis.plot(line.x, line.y, label=name, **style)
                if len(line.low):
                    below = [y - low for y, low in zip(line.y, line.low)]
                    above = [high - y for y, high in zip(line.y, line.high)]
                    axis.errorbar(
                        line.x, line.y, (below, above), fmt="none", ecolor=style["color"],
                        elinewidth=0.8, capsize=2.0,
                    )  # fmt: skip
            if panel.span is not None:
                low, high, name = panel.span
                axis.axhspan(low, high, color="0.92", zorder=0, label=name)
            if panel.log or panel.log_x:
                axis.set_xscale("log")
                axis.set_yscale("log" if panel.log else "linear")
                # the decades alone are too few numbers, and matplotlib's between them too many
                axis.set_xticks(_round_numbers(*axis.get_xlim()))
                axis.xaxis.set_major_formatter("{x:g}")
                axis.xaxis.set_minor_formatter("")
            else:
                locator = axis.xaxis.get_major_locator()
                locator.set_params(integer=True, nbins=10)  # type: ignore[call-arg]
            _dress(axis, panel.title, panel.x + (f"\n{panel.note}" if panel.note else ""), panel.y)
            outside: dict[str, Any] = {
                "loc": "upper center",
                "bbox_to_anchor": (0.5, -0.15),
                "ncols": 2,
            }
            place = outside if panel.log or len(panel.lines) > MOST_INSIDE else {}
            axis.legend(frameon=False, fontsize=6.5, handlelength=2.6, **place)
        return write(figure, stem)


def bars_figure(
    title: str, y: str, groups: Mapping[str, Mapping[str, float]], stem: Path
) -> list[Path]:
    """Groups of bars, a group for each data set and a bar for each method."""
    methods = list(dict.fromkeys(name for bars in groups.values() for name in bars))
    width = 0.8 / max(1, len(methods))
    hatches = ("", "///", "...", "xxx", "\\\\\\", "++")
    with fixed_style():
        figure, (axis,) = _figure(1, wide=len(methods) * len(groups) > 8)
        for i, method in enumerate(methods):
            at = [g + (i - (len(methods) - 1) / 2) * width for g in range(len(groups))]
            heights = [bars.get(method, float("nan")) for bars in groups.values()]
            bars = axis.bar(
                at, heights, width, label=method, color=BARS[i % len(BARS)],
                edgecolor="black", linewidth=0.4, hatch=hatches[i % len(hatches)],
            )  # fmt: skip
            axis.bar_label(bars, fmt="%.3f", fontsize=5.5, padding=1.0, rotation=90)
        _dress(axis, title, "", y)
        axis.set_xticks(range(len(groups)), list(groups))
        axis.set_ylim(0.0, 1.2 * max(max(bars.values()) for bars in groups.values()))
        across = 3 if max(map(len, methods)) < 20 else 2
        figure.legend(frameon=False, ncols=across, fontsize=6.5, loc="outside lower center")
        return write(figure, stem)


def _round_numbers(low: float, high: float) -> list[float]:
    """1, 2 and 5 times the powers of ten in a range, without 2 and 5 where it is long."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    steps = (1.0, 2.0, 5.0) if len(decades) <= 4 else (1.0,)
    return [t for t in (s * 10.0**d for d in decades for s in steps) if low <= t <= high]


def _figure(panels: int, wide: bool = False) -> tuple[Figure, Sequence[Axes]]:
    from matplotlib.figure import Figure

    width = PAGE if wide or panels > 1 else COLUMN
    figure = Figure(figsize=(width, 2.9), layout="constrained")
    return figure, figure.subplots(1, panels, squeeze=False)[0]


def _dress(axis: Axes, title: str, x: str, y: str) -> None:
    axis.set_title(title, pad=4)
    axis.set_xlabel(x, labelpad=1)
    axis.set_ylabel(y, labelpad=2)
    axis.grid(color="0.9", linewidth=0.5)
    axis.set_axisbelow(True)
    axis.tick_params(length=2.5, width=0.6, pad=2)
