"""The figure of a benchmark: a measure at n = 1..10, a panel a data set, a line an algorithm.

Drawn like Figure 1 of the NDCG Boost paper (Valizadegan et al., NIPS 2009). Every line has its
own marker, dash and colour (of different lightness), so that it is told apart in grey and by
colour-blind readers; the one legend stands outside the panels. The same values give the same
bytes: nothing is dated.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from letorbench.files import write_atomically

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FORMATS = ("png", "svg", "pdf")

#: Okabe and Ito's and Tol's colour-blind-safe colours, neighbours far apart in lightness
COLOURS = (
    "#D55E00", "#000000", "#E69F00", "#0072B2", "#CC79A7", "#117733", "#56B4E9",
    "#882255", "#999933", "#332288", "#44AA99", "#661100", "#888888",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (7, 2)))

STYLE = {
    "font.family": "DejaVu Sans",
    "font.size": 8.0,
    "axes.titlesize": 8.5,
    "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5,
    "ytick.labelsize": 7.5,
    "legend.fontsize": 7.5,
    "axes.linewidth": 0.6,
    "lines.linewidth": 1.1,
    "lines.markersize": 4.2,
    "pdf.fonttype": 42,
    "svg.hashsalt": "letorbench",
}
#: inches: a lone panel fills a column of a paper, more of them a page's width
COLUMN, PAGE = 3.5, 7.2
LEFT, RIGHT, BOTTOM, TOP = 0.54, 0.06, 0.36, 0.24
#: inches in the legend: a row, a letter of a name, and what an entry has beside its name
LEGEND_ROW, LEGEND_LETTER, LEGEND_LINE = 0.142, 0.063, 0.49


@dataclass(frozen=True)
class Panel:
    """One data set: its title, the name of the y axis, and values at n = 1, 2, ... by algorithm."""

    title: str
    measure: str
    curves: Mapping[str, Sequence[float]]


def draw(panels: Sequence[Panel]) -> Figure:
    """The figure of one or several panels."""
    import matplotlib
    from matplotlib.figure import Figure

    algos = list(dict.fromkeys(algo for panel in panels for algo in panel.curves))
    styles = {algo: line_style(i) for i, algo in enumerate(algos)}
    columns = min(len(panels), 3 if len(panels) not in (2, 4) else 2)
    rows = -(-len(panels) // columns)
    width = COLUMN if columns == 1 else PAGE
    panel_width = width / columns
    panel_height = 0.76 * panel_width if columns < 3 else 0.92 * panel_width
    legend_columns = _legend_columns(algos, width)
    legend = LEGEND_ROW * -(-len(algos) // legend_columns) + 0.12
    height = rows * panel_height + legend
    with matplotlib.rc_context(STYLE):
        figure = Figure(figsize=(width, height))
        for i, panel in enumerate(panels):
            row, column = divmod(i, columns)
            left = column * panel_width + LEFT
            bottom = height - (row + 1) * panel_height + BOTTOM
            size = (panel_width - LEFT - RIGHT, panel_height - BOTTOM - TOP)
            axes = figure.add_axes(
                (left / width, bottom / height, size[0] / width, size[1] / height)
            )
            _draw_panel(axes, panel, styles)
        lines = {line.get_label(): line for axes in figure.axes for line in axes.lines}
        figure.legend(
            [lines[algo] for algo in algos],
            algos,
            loc="lower center",
            ncols=legend_columns,
            frameon=False,
            handlelength=3.0,
            columnspacing=1.0,
            handletextpad=0.5,
            labelspacing=0.35,
            borderaxespad=0.2,
        )
    return figure


def _legend_columns(names: Sequence[str], width: float) -> int:
    """How many columns of the legend fit into so many inches: the fewest of the fewest rows.

    matplotlib fills column after column, each as wide as its longest name.
    """

    def taken(columns: int) -> float:
        each, longer = divmod(len(names), columns)
        starts = [i * each + min(i, longer) for i in range(columns + 1)]
        longest = [max(map(len, names[a:b])) for a, b in itertools.pairwise(starts)]
        return LEGEND_LINE * columns + LEGEND_LETTER * sum(longest)

    most = max(n for n in range(1, len(names) + 1) if n == 1 or taken(n) <= width)
    rows = -(-len(names) // most)
    return next(n for n in range(1, most + 1) if -(-len(names) // n) == rows and taken(n) <= width)


def line_style(i: int) -> dict[str, object]:
    """Colour, marker and dash of the i-th line; the first 65 differ in what grey keeps."""
    colour = COLOURS[i % len(COLOURS)]
    return {
        "color": colour,
        "marker": MARKERS[i % len(MARKERS)],
        "linestyle": DASHES[(i + i // len(MARKERS)) % len(DASHES)],
        "markerfacecolor": colour if i % 2 == 0 else "white",
        "markeredgewidth": 0.8,
    }


def _draw_panel(axes: Axes, panel: Panel, styles: Mapping[str, dict[str, object]]) -> None:
    longest = max((len(values) for values in panel.curves.values()), default=1)
    for algo, values in panel.curves.items():
        points = [(n, value) for n, value in enumerate(values, 1) if value == value]  # no NaN
        axes.plot(*zip(*points), label=algo, **styles[algo])
    axes.set_title(panel.title, pad=4)
    axes.set_xlabel("@n", labelpad=1)
    axes.set_ylabel(panel.measure, labelpad=2)
    axes.set_xticks(range(1, longest + 1))
    axes.margins(x=0.03, y=0.05)
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=2.5, width=0.6, pad=2)
    axes.yaxis.get_major_locator().set_params(nbins=7)


def write(figure: Figure, stem: Path, formats: Sequence[str] = FORMATS) -> list[Path]:
    """Write stem.png, stem.svg, stem.pdf (those asked for); the paths written."""
    paths = []
    for form in formats:
        path = stem.with_suffix(f".{form}")
        with write_atomically(path, binary=True) as file:
            save(figure, file, form)
        paths.append(path)
    return paths


def save(figure: Figure, file: BinaryIO, form: str) -> None:
    """One format into an open file, without dates or versions in it."""
    import matplotlib

    undated = {
        "png": {"Software": None},
        "svg": {"Date": None, "Creator": None},
        "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    }
    with matplotlib.rc_context(STYLE):
        figure.savefig(file, format=form, dpi=220, metadata=undated[form])
