"""Validation curves: what validation measured, a line a fold, and what it kept."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench import escaping
from letorbench.analysis.figures import COLOURS, DASHES, PAGE, dress, fixed_style, new_figure
from letorbench.analysis.results_table import label
from letorbench.errors import DataError
from letorbench.results.frame import Frame, Row

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: panels side by side, and inches of the height of one
ACROSS, HEIGHT = 3, 1.9


def courses(row: Row) -> dict[int, tuple[list[str], np.ndarray, list[int]]]:
    """The course of validation in each fold of the first seed, where there was a choice.

    The names of settings (none of rounds), the values, and the place of what was kept. It goes over
    rounds or epochs; without any, over the settings of the grid.
    """
    found = {fold: _course(fit) for fold, fit in row.fits.items()}
    return {fold: course for fold, course in found.items() if len(course[1]) > 1}


def _course(fit: Mapping[str, Any]) -> tuple[list[str], np.ndarray, list[int]]:
    facts = fit.get("validation", {})
    curve, best = facts.get("curve") or [], facts.get("best")
    if len(curve) > 1:
        chosen = [] if best is None else [min(max(int(best) - 1, 0), len(curve) - 1)]
        return [], np.array(curve, dtype=np.float64), chosen
    trials = facts.get("grid") or []
    free = list(fit.get("identity", {}).get("grid", {}))
    if len(free) == 1 and all(type(t["settings"].get(free[0])) in (int, float) for t in trials):
        trials = sorted(trials, key=lambda trial: trial["settings"][free[0]])  # as it grew
    names = ["/".join(escaping.figure(str(t["settings"].get(k))) for k in free) for t in trials]
    values = np.array([trial["value"] for trial in trials], dtype=np.float64)
    return names, values, [int(np.nanargmax(values))] if np.isfinite(values).any() else []


def paint(axes: Axes, row: Row) -> None:
    """Draw a line a fold, a dot at what was kept, and name the axes."""
    found = courses(row)
    for fold, (names, values, chosen) in found.items():
        axes.plot(
            range(1, len(values) + 1), values, color=COLOURS[fold % len(COLOURS)],
            linestyle=DASHES[fold % len(DASHES)], marker="o", markevery=chosen,
        )  # fmt: skip
        every = -(-len(names) // 6) or 1
        if names:
            axes.set_xticks(range(1, len(names) + 1, every), names[::every])
    searched = any(names for names, _, _ in found.values())
    x = " / ".join(row.stored[0].identity.get("grid") or {}) if searched else "round or epoch"
    y = label(str(row.stored[0].identity.get("select")))
    axes.set(xlabel=escaping.figure(x), ylabel=escaping.figure(f"validation {y}"))


def draw_validation(frames: Sequence[Frame]) -> Figure:
    """Draw a panel for each algorithm of which validation chose something.

    DataError where it chose nothing.
    """
    rows = [(frame.dataset, row) for frame in frames for row in frame.rows if courses(row)]
    if not rows:
        raise DataError("found no algorithm with rounds, epochs or settings that validation chose")
    across = min(len(rows), ACROSS)
    down = -(-len(rows) // across)
    with fixed_style():
        figure = new_figure(PAGE * across / ACROSS, HEIGHT * down + 0.2)
        places = figure.subplots(down, across, squeeze=False).ravel()
        for axes, (dataset, row) in zip(places, rows):
            paint(axes, row)
            title = row.algo if len(frames) == 1 else f"{dataset}, {row.algo}"
            dress(axes, title, axes.get_xlabel(), axes.get_ylabel())
        for axes in places[len(rows) :]:
            axes.remove()
        figure.supxlabel("a line a fold; the dot is what was kept", size=6.5, color="0.4")
    return figure
