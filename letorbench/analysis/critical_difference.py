"""The critical-difference diagram: average ranks on a line, bars under tied groups.

It follows J. Demsar, Statistical Comparisons of Classifiers over Multiple Data Sets, JMLR 7,
2006, figure 1. The best algorithm is on the left. The same ranks give the same bytes when
`figures.write` saves them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from letorbench import escaping
from letorbench.analysis.figures import fixed_style
from letorbench.analysis.ranks import tied_groups

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: inches: the scale, a letter of a label, and the rows of bars and of labels
SCALE, LETTER, BAR_ROW, LABEL_ROW = 3.0, 0.068, 0.09, 0.17
#: of the part of the scale that a rank moves on with other seeds
SEED_COLOUR = "#0072B2"
EDGE, ABOVE = 0.08, 0.52


def draw(
    names: Sequence[str],
    ranks: np.ndarray,
    difference: float,
    spans: np.ndarray | None = None,
) -> Figure:
    """Draw the diagram.

    Parameters
    ----------
    names : sequence of str
        Two or more algorithms.
    ranks : ndarray, shape (n_algorithms,)
        Their average ranks, 1 the best.
    difference : float
        The critical difference. Bars join the groups of `ranks.tied_groups`.
    spans : ndarray, shape (n_algorithms, 2), optional
        What the ranks become with other seeds: a thin line through each that they could change,
        and `~` behind its name.
    """
    order = np.argsort(ranks, kind="stable")
    reached = np.repeat(np.asarray(ranks)[:, None], 2, axis=1) if spans is None else spans
    moved = reached[:, 1] > reached[:, 0]
    labels = [f"{names[i]}{' ~' if moved[i] else ''}  {ranks[i]:.2f}" for i in order]
    groups = tied_groups(ranks, difference)
    bars = _stacked([(ranks[group[0]], ranks[group[-1]]) for group in groups])
    depth = BAR_ROW * (1 + max((row for _, _, row in bars), default=-1)) + 0.12
    left = -(-len(order) // 2)
    side = LETTER * max(map(len, labels)) + 0.12
    width = SCALE + 2 * (side + EDGE)
    height = ABOVE + depth + LABEL_ROW * left + EDGE
    with fixed_style():
        from matplotlib.figure import Figure

        figure = Figure(figsize=(width, height))
        axes = figure.add_axes((0, 0, 1, 1))
        axes.set(xlim=(-side - EDGE, SCALE + side + EDGE), ylim=(ABOVE - height, ABOVE))
        axes.set_axis_off()
        step = SCALE / (len(order) - 1)
        places = (np.asarray(ranks)[order] - 1.0) * step
        _scale(axes, len(order), step, difference)
        for low, high, row in bars:
            y = -BAR_ROW * (row + 1)
            ends = ((low - 1.0) * step - 0.03, (high - 1.0) * step + 0.03)
            axes.plot(ends, (y, y), color="black", linewidth=2.5, solid_capstyle="butt")
        for place in np.flatnonzero(moved[order]):
            ends = tuple((reached[order[place]] - 1.0) * step)
            axes.plot(ends, (0, 0), color=SEED_COLOUR, linewidth=2.2, alpha=0.45)
        for i, (x, label) in enumerate(zip(places, labels)):
            line, end = (i, -0.06) if i < left else (len(order) - 1 - i, SCALE + 0.06)
            y = -depth - LABEL_ROW * (line + 0.5)
            axes.plot((x, x, end), (0, y, y), color="black", linewidth=0.6)
            edge, where = (end - 0.04, "right") if i < left else (end + 0.04, "left")
            axes.text(edge, y, escaping.figure(label), ha=where, va="center")
    return figure


def _scale(axes: Axes, n: int, step: float, difference: float) -> None:
    """The line of ranks 1..n with its ticks, and the critical difference above it."""
    axes.plot((0, SCALE), (0, 0), color="black", linewidth=0.8)
    for rank in range(n):
        axes.plot((rank * step,) * 2, (0, 0.06), color="black", linewidth=0.8)
        axes.text(rank * step, 0.08, str(rank + 1), ha="center", va="bottom")
    length = min(difference, n - 1) * step
    y = 0.3
    axes.plot((0, length), (y, y), color="black", linewidth=0.8)
    for x in (0, length) if difference <= n - 1 else (0,):
        axes.plot((x, x), (y - 0.025, y + 0.025), color="black", linewidth=0.8)
    axes.text(length / 2, y + 0.03, f"CD = {difference:.2f}", ha="center", va="bottom")


def _stacked(spans: Sequence[tuple[float, float]]) -> list[tuple[float, float, int]]:
    """(low, high, row) of every span: the first row where it touches no other span."""
    ends: list[float] = []
    placed = []
    for low, high in spans:
        row = next((r for r, end in enumerate(ends) if end < low), len(ends))
        ends[row : row + 1] = [high]
        placed.append((float(low), float(high), row))
    return placed
