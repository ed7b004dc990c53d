"""The figure of answers: a row a claim, our interval and the paper's number on one axis."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import NamedTuple

import numpy as np

from letorbench.analysis.figures import PAGE, fixed_style, new_figure, write

#: the axis ends here at the latest, in per cent: what is beyond has an arrow
MOST = 25.0
#: the letters of a line of a name
WIDTH = 56


class Line(NamedTuple):
    """A row: ours with its interval and the paper's number, in per cent, and the answer."""

    name: str
    value: float
    low: float
    high: float
    printed: float | None
    answer: str


def answers_figure(groups: Mapping[str, Sequence[Line]], path: Path) -> Path:
    """Draw the rows of each group below its name, if it has one, as a PNG."""
    rows: list[tuple[str, Line | None]] = []
    for group, own in groups.items():
        rows += [(group, None)] if group else []
        rows += [(each.name, each) for each in own]
    lines = [each for _, each in rows if each is not None]
    ends = [abs(n) for e in lines for n in (e.low, e.high, e.printed or 0.0) if np.isfinite(n)]
    limit = min(MOST, 1.1 * max(2.0, *ends))
    names = [fill(name, WIDTH) for name, _ in rows]
    with fixed_style():
        figure = new_figure(PAGE, 0.7 + 0.13 * sum(2 + name.count("\n") for name in names))
        axis = figure.subplots()
        axis.axvspan(-1.0, 1.0, color="0.93", zorder=0)
        axis.axvline(0.0, color="0.5", linewidth=0.8, zorder=1)
        for y, (_, each) in enumerate(rows):
            if each is None:
                continue
            low, high = np.clip([each.low, each.high], -limit, limit)
            axis.plot([low, high], [y, y], color="black", linewidth=1.4, zorder=2)
            if abs(each.value) <= limit:
                axis.plot(each.value, y, "o", color="black", markersize=3.5, zorder=3)
            elif np.isfinite(each.value):
                side, text = np.sign(each.value), f"{each.value:+.0f} %"
                end = "right" if side > 0.0 else "left"
                axis.text(0.96 * side * limit, y, text, ha=end, va="center", fontsize=6.5)
            if each.low < -limit:
                axis.plot(-limit, y, "<", color="black", markersize=4.0)
            if each.high > limit:
                axis.plot(limit, y, ">", color="black", markersize=4.0)
            if each.printed is not None:
                at = float(np.clip(each.printed, -limit, limit))
                axis.plot(at, y, "D", color="#D55E00", markersize=5.0, zorder=4, fillstyle="none")
            beside = axis.get_yaxis_transform()
            axis.text(1.01, y, each.answer, transform=beside, va="center", fontsize=7.0)
        axis.set_yticks(range(len(rows)), names, fontsize=6.5)
        for label, (_, each) in zip(axis.get_yticklabels(), rows, strict=True):
            label.set_fontweight("bold" if each is None else "normal")
        axis.set_ylim(len(rows) - 0.5, -0.5)
        axis.set_xlim(-1.04 * limit, 1.04 * limit)
        x = "lead, or how far a number is from the printed one, in %; diamond: the paper's"
        axis.set_xlabel(x)
        axis.spines[["top", "right", "left"]].set_visible(False)
        axis.tick_params(axis="y", length=0)
        path.parent.mkdir(parents=True, exist_ok=True)
        return write(figure, path, ("png",))[0]
