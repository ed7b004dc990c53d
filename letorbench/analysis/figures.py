"""The figures of a benchmark: a measure at n = 1..10 of several algorithms.

A figure has a panel per data set, with a line per algorithm, as Figure 1 of the NDCG Boost paper
(Valizadegan et al., NIPS 2009), or a point for a measure without cut-offs. Each line has its own
marker, dash and colour, so that it can be told apart in grey and by colour-blind readers. If there
are too many lines, the best few, the baseline and the user's are drawn so, and the others as thin
grey lines. Equal values give equal bytes: nothing in a file is dated.
"""

from __future__ import annotations

import base64
import io
import math
import os
import sys
import textwrap
import warnings
from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

import numpy as np

from letorbench import escaping
from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.paired import MeanDifference
from letorbench.analysis.results_table import best_first, label, remarks, shared_remarks
from letorbench.errors import DataError, UsageError
from letorbench.files import Writer, write_atomically
from letorbench.measures import MEASURES, measure_names, sign
from letorbench.rankers import places
from letorbench.results.dataset_results import DatasetResults

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

#: the formats, and what matplotlib would write of its version and of the time
DATED = {
    "png": ("Software",), "svg": ("Date", "Creator"), "pdf": ("CreationDate", "Creator", "Producer")
}  # fmt: skip
FORMATS = tuple(DATED)

#: Okabe and Ito's and Tol's colour-blind-safe colours, neighbours far apart in lightness
COLOURS = (
    "#D55E00", "#000000", "#E69F00", "#0072B2", "#CC79A7", "#117733", "#56B4E9",
    "#882255", "#999933", "#332288", "#44AA99", "#661100", "#888888",
)  # fmt: skip
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*", "p", "h", "d")
DASHES = ("-", (0, (4, 1.5)), (0, (1, 1.2)), (0, (5, 1.5, 1, 1.5)), (0, (7, 2)))

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans", "font.size": 8.0,
    "axes.titlesize": 8.5, "axes.labelsize": 8.0,
    "xtick.labelsize": 7.5, "ytick.labelsize": 7.5, "legend.fontsize": 7.5,
    "axes.linewidth": 0.6, "lines.linewidth": 1.1, "lines.markersize": 4.2,
    "pdf.fonttype": 42, "svg.hashsalt": "letorbench",
}  # fmt: skip
#: the most lines that can be told apart; of more, the number of the best that are drawn in full
MOST_LINES, BEST_LINES = len(COLOURS), 7
#: more bands than this hide each other
MOST_BANDS = 4
#: the baseline that is drawn in full where none is named
USUAL_BASELINE = "regression"
#: more grey lines than this are counted and not named: a legend is less tall than its plot
MOST_GREY = 12
#: more rows of a legend than this are too tall for a panel as wide as a column
MOST_ROWS = 6
#: of the lines that the legend does not name
GREY: dict[str, Any] = {"color": "0.78", "linewidth": 0.6, "zorder": 1.0}
#: inches: a lone panel fills a column of a paper, more of them a page's width
COLUMN, PAGE = 3.5, 7.2
#: a longer name, in letters, leaves too little of a column for the intervals beside it
LONG_NAME = 30
#: inches below the panels: a row of the legend, a letter in it, the line of an entry
LEGEND_ROW, LEGEND_LETTER, LEGEND_LINE = 0.15, 0.063, 0.55
#: inches of a letter in the note, and its size in points
NOTE_LETTER, NOTE_SIZE = 0.047, 6.5
#: inches of a row of points
ROW = 0.16
#: what lines and bands are: no correction for several comparisons is in them
INTERVALS = "95 % intervals, each by itself"
POINTS_NOTE = f"{INTERVALS}, over queries"


#: the edge of a band
Edge = Sequence[float] | np.ndarray


@dataclass(frozen=True)
class Panel:
    """One data set: the values of algorithms at n = 1, 2, ..., at `cutoffs`, or at `fractions`."""

    title: str
    measure: str
    curves: Mapping[str, Sequence[float]]
    #: the lower and upper edges of the bands of some lines, and what the bands are
    bands: Mapping[str, tuple[Edge, Edge]] = field(default_factory=dict)
    meaning: str = "one standard deviation over seeds"
    #: of the training queries
    fractions: Sequence[float] = ()
    cutoffs: Sequence[float] = ()
    #: what a reader must know of the lines, in one sentence
    note: str = ""
    #: the user's systems and settings, which the legend names in any case
    users: Collection[str] = ()
    #: the reference points, which learn nothing: the axis need not have room for them
    references: Collection[str] = ()
    #: where points are read from: a line through this value
    origin: float | None = None


@contextmanager
def fixed_style() -> Iterator[None]:
    """Draw in the block as on every machine: no matplotlibrc and no MPLBACKEND is obeyed."""
    backend = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib
    except ValueError as error:  # it reads a matplotlibrc before it can be told not to
        raise DataError(f"matplotlib cannot read a matplotlibrc: {error}") from None

    if backend is not None:  # a notebook's; with a wrong one the import itself would fail
        os.environ["MPLBACKEND"] = backend
        with suppress(ValueError):
            matplotlib.rcParams["backend"] = backend
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph ")  # names may have letters that no font has
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(cast(Any, STYLE))
        yield


def new_figure(width: float, height: float) -> Figure:
    """A figure of these inches that belongs to no window; every notebook shows it as a PNG."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    # Jupyter asks for this; only its `%matplotlib inline` would teach it another way
    figure._repr_png_ = partial(_png, figure)  # type: ignore[attr-defined]
    return figure


@contextmanager
def canvas(
    width: float, height: float, n: int = 1, across: int = 1, **shared: Any
) -> Iterator[tuple[Figure, np.ndarray]]:
    """A figure in the fixed style, and its n panels in reading order."""
    with fixed_style():
        figure = new_figure(width, height)
        panels = figure.subplots(-(-n // across), across, squeeze=False, **shared).ravel()
        for axes in panels[n:]:
            axes.remove()
        yield figure, panels[:n]


def _png(figure: Figure) -> bytes:
    file = io.BytesIO()
    save(figure, file, "png")
    return file.getvalue()


def data_uri(figure: Figure) -> str:
    """The figure as the source of an image in HTML."""
    return f"data:image/png;base64,{base64.b64encode(_png(figure)).decode()}"


def drawn_measures(measure: str, frame: DatasetResults) -> list[str]:
    """The measure itself, or if it needs a cut-off, the stored ones with @1, else @1 to @10."""
    names, stored = measure_names(measure), frame.measures
    known = MEASURES.get(names[0]) if len(names) == 1 and names[0] not in stored else None
    if known is not None and known.cutoff_rule != "none":
        names = [f"{known.name}@{n}" for n in range(1, 11)]
        return [name for name in names if name in stored] if names[0] in stored else names
    if len({name.partition("@")[0] for name in names}) != 1:
        raise UsageError(f"found the measures {measure!r}, expected one to draw")
    return names


def panel(frame: DatasetResults, measures: Sequence[str]) -> Panel:
    """The panel of a data set: a measure, or its cut-offs, of every algorithm."""
    remark, first, lone = remarks(frame), measures[0], len(measures) == 1
    curves, bands, named, references = {}, {}, [], []
    for row in best_first(frame.rows, first) if lone else frame.rows:
        name = row.algo + f" [{row.convention}]" * (frame.mixed and row.convention not in row.algo)
        name += f" ({remark[row.algo]})" if row.algo in remark else ""
        if row.label.name or row.label.algo not in places():
            named.append(name)
        if row.reference:
            references.append(name)
        curves[name] = [row.values[measure] for measure in measures]
        half = np.array([row.deviation(measure) or 0.0 for measure in measures])
        if lone and not np.isnan(row.queries.values[first]).all():
            low, high = MeanDifference.of_queries(row.queries, first).interval()
            half = np.array([high - low]) / 2
        if lone or row.repeats > 1:
            bands[name] = (curves[name] - half, curves[name] + half)
    title = label(first if lone else first.partition("@")[0])
    shared = ", ".join(filter(None, shared_remarks(frame)))
    cutoffs = [] if lone else [float(measure.partition("@")[2]) for measure in measures]
    return Panel(
        f"{frame.dataset} dataset{f' ({shared})' if shared else ''}",
        f"{title} ({', '.join(frame.conventions)})", curves, bands,
        cutoffs=cutoffs, note=_short_lists(frame, measures), users=named, references=references,
    )  # fmt: skip


def differences_panel(
    pairs: Sequence[Pair], procedure: Procedure, references: Collection[str] = ()
) -> Panel:
    """The panel of a comparison: how far each algorithm is above the baseline of all pairs."""
    first = pairs[0]
    ordered = sorted(pairs, key=lambda pair: -sign(pair.measure) * pair.difference.mean)
    curves, bands, far = {}, {}, []
    for pair in ordered:
        name = f"{pair.a}{' *' * (pair.sign(procedure.alpha) != 0)}"
        if pair.a in references:
            far.append(name)
        low, high = pair.difference.interval()
        curves[name], bands[name] = [pair.difference.mean], ([low], [high])
    return Panel(
        f"{first.dataset} dataset", f"difference from {first.b} in {label(first.measure)}",
        curves, bands, references=far, origin=0.0,
        meaning=f"{INTERVALS}; * = adjusted p < {procedure.alpha:g}, {procedure.over(pairs)}",
    )  # fmt: skip


def _short_lists(frame: DatasetResults, measures: Sequence[str]) -> str:
    """A note if a convention counts NDCG@n of lists shorter than n as 0, which makes lines fall."""
    shortest = (0, "", 0)
    rules: dict[str, None] = {}
    for row in frame.rows if measures[0].startswith("ndcg") else ():
        values = [row.queries.in_means.tables[name] for name in measures]
        for name, before, after in zip(measures[1:], values, values[1:]):
            # no other list has an NDCG above 0 at one n and 0 at a larger one
            short = ((before > 0.0) & (after == 0.0)).any(axis=0)
            shortest = max(shortest, (int(short.sum()), name.partition("@")[2], len(short)))
            rules |= {row.convention: None} if short.any() else {}
    count, n, queries = shortest
    return (
        f"{frame.dataset}: {', '.join(rules)} counts NDCG@n as 0 for lists shorter than n: at "
        f"@{n} this begins for {count} of {queries} queries."
    ) * bool(count)


def draw(
    panels: Sequence[Panel], baseline: str = USUAL_BASELINE, width: float | None = None,
    title: str | None = None,
) -> Figure:  # fmt: skip
    """Draw data sets in reading order; the baseline's line is never a grey one.

    width: inches, by default `COLUMN` for a lone panel with a short legend, else `PAGE`.
    """
    if title is not None and len(panels) == 1:
        panels = [replace(panels[0], title=title)]
    names = list(dict.fromkeys(algo for panel in panels for algo in panel.curves))
    last = [  # the value at the largest n that has one
        {algo: known[-1] for algo, values in panel.curves.items()
         if algo not in panel.references and (known := [v for v in values if v == v])}
        for panel in panels
    ]  # fmt: skip
    users = {algo for panel in panels for algo in panel.users}
    named = drawn_first(names, last, [baseline], users)
    styles = {algo: line_style(i) for i, algo in enumerate(named)}
    columns = min(len(panels), 3 if len(panels) not in (2, 4) else 2)
    column = PAGE if columns > 1 else COLUMN
    points = all(len(values) == 1 for panel in panels for values in panel.curves.values())
    tall = -(-len(named) // _across(named, column)) > MOST_ROWS and not points
    long = points and max(map(len, names)) > LONG_NAME
    width = width or (PAGE if tall or long else column)
    # the lines that have a band: the best few of those drawn in full
    several = [algo for algo in named if any(algo in panel.bands for panel in panels)]
    several.sort(key=lambda algo: -max(each.get(algo, -math.inf) for each in last))
    banded = several[:MOST_BANDS]
    note = _note([algo for algo in names if algo not in styles], banded, panels, width)
    across = _across(named, width)
    below = LEGEND_ROW * (-(-len(named) // across) + len(note) + 1)
    each_row = (0.76 if columns < 3 else 0.92) * min(width / columns, COLUMN + 0.1)
    if points:
        each_row, below = 0.5 + ROW * max(len(panel.curves) for panel in panels), 2 * LEGEND_ROW
    height = -(-len(panels) // columns) * each_row + below
    with canvas(width, height, len(panels), columns) as (figure, places):
        if title and len(panels) > 1:
            figure.suptitle(escaping.figure(title), size=STYLE["axes.titlesize"] + 1.0)
        for axes, each in zip(places, panels):
            if points:
                _draw_points(axes, each)
            else:
                _draw_panel(axes, each, styles, banded)
        if points:
            meaning = panels[0].meaning if panels[0].origin is not None else POINTS_NOTE
            legend_text = textwrap.fill(f"lines: {meaning}", int((width - 0.12) / NOTE_LETTER))
            figure.supxlabel(legend_text, size=NOTE_SIZE, color="0.4")
            return figure
        lines = {line.get_label(): line for axes in figure.axes for line in axes.lines}
        legend = figure.legend(
            [lines[algo] for algo in named], [escaping.figure(algo) for algo in named],
            loc="outside lower center", ncols=across, frameon=False, handlelength=3.0,
            columnspacing=1.0, handletextpad=0.5, labelspacing=0.35, alignment="left",
            title="\n".join(map(escaping.figure, note)), title_fontsize=NOTE_SIZE,
        )  # fmt: skip
        legend.get_title().set_color("0.4")
    return figure


def _across(names: Sequence[str], width: float) -> int:
    """The most columns of a legend that fit side by side, each as wide as its longest name."""
    for columns in range(len(names), 1, -1):
        longest = [max(map(len, each)) for each in np.array_split(names, columns)]
        if LEGEND_LINE * columns + LEGEND_LETTER * sum(longest) <= width:
            return columns
    return 1


def drawn_first(
    names: Sequence[str], values: Sequence[Mapping[str, float]], baselines: Collection[str],
    users: Collection[str] = (),
) -> list[str]:  # fmt: skip
    """All algorithms, or the baselines, those with the best average ranks, and the best users'.

    values: of the algorithms that are ranked, in each panel.
    """
    if len(names) <= MOST_LINES:
        return list(names)
    ranks = defaultdict[str, list[int]](list)
    for each in values:
        for algo, value in each.items():
            ranks[algo].append(sum(other > value for other in each.values()))
    ranked = [algo for algo in names if algo in ranks]
    ranked.sort(key=lambda algo: sum(ranks[algo]) / len(ranks[algo]))
    left = MOST_LINES - BEST_LINES - len(baselines)
    best_users = [algo for algo in ranked if algo in users][:left]
    chosen = {*ranked[:BEST_LINES], *baselines, *best_users}
    return [algo for algo in names if algo in chosen]


def _note(
    names: Sequence[str], banded: Sequence[str], panels: Sequence[Panel], width: float
) -> list[str]:
    """The lines that explain bands and grey lines, and the panels' notes."""
    texts = []
    if banded:
        texts.append(f"Bands: {panels[0].meaning} of {', '.join(banded)}.")
    if names:
        listed = f": {', '.join(names)}" if len(names) <= MOST_GREY else ""
        texts.append(f"Thin grey lines: {len(names)} other algorithms{listed}.")
    texts += [panel.note for panel in panels if panel.note]
    letters = int((width - 0.12) / NOTE_LETTER)
    return [line for text in texts for line in textwrap.wrap(text, letters, break_on_hyphens=False)]


def line_style(i: int) -> dict[str, Any]:
    """Colour, marker and dash of the i-th line; the first 65 differ in grey, too."""
    colour = COLOURS[i % len(COLOURS)]
    return {
        "color": colour, "markerfacecolor": colour if i % 2 == 0 else "white",
        "marker": MARKERS[i % len(MARKERS)], "markeredgewidth": 0.8,
        "linestyle": DASHES[(i + i // len(MARKERS)) % len(DASHES)],
    }  # fmt: skip


def _draw_panel(
    axes: Axes, panel: Panel, styles: Mapping[str, dict[str, Any]], banded: Sequence[str]
) -> None:
    longest = max((len(values) for values in panel.curves.values()), default=1)
    x = panel.fractions or panel.cutoffs or range(1, longest + 1)
    for algo, values in panel.curves.items():
        points = [(n, value) for n, value in zip(x, values) if value == value]  # no NaN
        axes.plot(*np.reshape(points, (-1, 2)).T, label=algo, **styles.get(algo, GREY))
        if algo in banded and algo in panel.bands:
            style = {"color": styles[algo]["color"], "alpha": 0.15, "linewidth": 0}
            axes.fill_between(x[: len(values)], *panel.bands[algo], **style)
    x_label = "fraction of the training queries" if panel.fractions else "@n"
    dress(axes, panel.title, x_label, escaping.figure(panel.measure))
    if panel.fractions:
        axes.set_xscale("log")
        axes.minorticks_off()
    axes.set_xticks(x, [f"{n:g}" for n in x])
    axes.margins(x=0.03, y=0.05)
    learned = [curve for algo, curve in panel.curves.items() if algo not in panel.references]
    drawn = [value for curve in learned for value in curve if value == value]
    if drawn and len(learned) < len(panel.curves):
        low, high = min(drawn), max(drawn)
        axes.set_ylim(low - 0.1 * (high - low) - 0.01, high + 0.1 * (high - low) + 0.01)
    axes.yaxis.get_major_locator().set_params(nbins=7)  # type: ignore[call-arg]


def _draw_points(axes: Axes, panel: Panel) -> None:
    """One row per algorithm: its value as a point, or far off a number; its band as a line."""
    shown = [algo for algo in panel.curves if algo not in panel.references] or [*panel.curves]
    ends = [end[0] for algo in shown for end in panel.bands.get(algo, [panel.curves[algo]] * 2)]
    low, high = np.nanmin([*ends, np.inf]), np.nanmax([*ends, -np.inf])
    room = 0.05 * (high - low) or 0.01
    for y, (algo, (value,)) in enumerate(panel.curves.items()):
        if value < low - 10 * room or value > high + 10 * room:
            side, edge = ("left", low - room) if value < low else ("right", high + room)
            text = f"\u25c2 {value:.4f}" if side == "left" else f"{value:.4f} \u25b8"
            axes.text(edge, y, text, ha=side, va="center", size=NOTE_SIZE, color="0.4")
            continue
        if algo in panel.bands:
            axes.plot([end[0] for end in panel.bands[algo]], [y, y], color=COLOURS[6])
        axes.plot([value], [y], "o", color=COLOURS[3])
    if panel.origin is not None:
        axes.axvline(panel.origin, color="0.4", linewidth=0.8)
    dress(axes, panel.title, "", "")
    # long names leave too little room to centre it
    axes.set_xlabel(escaping.figure(panel.measure), labelpad=1, loc="right")
    axes.set_yticks(range(len(panel.curves)), map(escaping.figure, panel.curves))
    axes.set_ylim(len(panel.curves) - 0.5, -0.5)


def dress(axes: Axes, title: str, x: str, y: str) -> None:
    """Give a panel its title, the names of its axes, and a pale grid."""
    axes.set_title(escaping.figure(title), pad=4)
    axes.set_xlabel(x, labelpad=1)
    axes.set_ylabel(y, labelpad=2)
    axes.grid(color="0.9", linewidth=0.5)
    axes.set_axisbelow(True)
    axes.tick_params(length=2.5, width=0.6, pad=2)


def write(
    figure: Figure, stem: Path, formats: Sequence[str] = FORMATS, to: Writer = write_atomically
) -> list[Path]:
    """Write the figure as stem.png, stem.svg and stem.pdf; such an ending of the stem is left out.

    A name with another point in it is whole.
    """
    name = stem.stem if stem.suffix[1:] in FORMATS else stem.name
    paths = [stem.with_name(f"{name}.{form}") for form in formats]
    for path, form in zip(paths, formats):
        with to(path, binary=True) as file:
            save(figure, file, form)
    return paths


def save(figure: Figure, file: IO[bytes], form: str) -> None:
    """Save the figure in one of the formats."""
    with fixed_style():
        figure.savefig(file, format=form, dpi=220, metadata=dict.fromkeys(DATED[form]))
