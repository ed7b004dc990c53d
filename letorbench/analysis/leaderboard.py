"""The leaderboard: every algorithm under one protocol, and a user's own results beside them.

The numbers of the shipped rows are our own runs, with five seeds where an algorithm draws random
numbers. They are packed in `shipped/`, a file a data set. A user's rows are paired with them by
query, so that a difference is tested as in `compare`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.figures import COLOURS, draw, draw_ranks, dress, new_figure, panel
from letorbench.analysis.leads import Lead
from letorbench.analysis.published import lookup
from letorbench.analysis.ranks import critical_difference, friedman, ranks_of
from letorbench.analysis.report.charts import framed
from letorbench.analysis.report.conclusions import conclusions, family, numbers
from letorbench.analysis.report.page import document, paragraph
from letorbench.analysis.results_table import best_first, comparable, label, spread
from letorbench.analysis.tables import Cell, Column, Table, probability, render, table
from letorbench.errors import DataError, UsageError
from letorbench.escaping import html as escape
from letorbench.measures import sign
from letorbench.rankers import ranker
from letorbench.results.frame import Frame, Row
from letorbench.results.measuring import RANDOM
from letorbench.results.packed import read_packed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: what the shipped rows were measured by
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "err@10")
#: the quick test that counts queries and seeds: every row is compared with the best
PROCEDURE = Procedure("t")
#: the families by loss, then by what is learned
FAMILY_ORDER = ("pointwise", "pairwise", "listwise", "linear", "nets", "boosting", "trees")
#: the file of the names of `recommended`
RECOMMENDED = "recommended.txt"
#: what stands behind the name of a user's row
YOURS = " (yours)"


@dataclass(frozen=True, eq=False)
class Board:
    """The rows of one data set that are compared, the user's among them."""

    frame: Frame
    #: the names of the user's rows
    own: tuple[str, ...] = ()
    #: a line for each row of the user's that is left out
    notes: tuple[str, ...] = ()


def files() -> dict[str, Path]:
    """Return the shipped files by their data sets."""
    folder = Path(str(resources.files("letorbench.analysis"))) / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.zip"))}


def recommended() -> list[str]:
    """Return the algorithms that no other beats significantly on a shipped data set.

    They are stored beside the results that they are of, as `never_beaten` finds them.
    """
    text = resources.files("letorbench.analysis").joinpath("shipped", RECOMMENDED)
    return text.read_text("utf-8").split()


def never_beaten(frames: Sequence[Frame], measure: str = MEASURES[3]) -> list[str]:
    """Return the algorithms that are on no data set significantly worse than its best one."""
    left: set[str] | None = None
    for frame in frames:
        rows = best_first(comparable(frame), measure)
        signs = _signs(_tests(Board(frame), measure), rows[0].algo)
        own = {row.algo for row in rows if signs.get(row.algo, 0) >= 0}
        left = own if left is None else left & own
    return sorted(left or ())


def shipped(dataset: str) -> Frame:
    """Return the shipped rows of a data set; DataError if there are none."""
    if dataset not in files():
        raise DataError(
            f"{dataset}: found no shipped results, expected one of {', '.join(files())}"
        )
    return read_packed(files()[dataset])


def board(ours: Frame, theirs: Frame | None) -> Board:
    """Return the shipped rows with a user's of the same data set beside them.

    A row of another convention, of queries that the shipped ones do not have, or without a value of
    a measure does not compare. It is left out with a note.
    """
    if theirs is None:
        return Board(ours)
    theirs = theirs.measured(MEASURES)
    [convention] = ours.conventions
    queries = ours.rows[0].queries.keys
    rows, notes = [], list(theirs.unmeasured)
    for row in theirs.rows:
        if row.convention != convention:
            notes.append(f"{row.algo}: left out: found convention {row.convention}, expected "
                         f"{convention}")  # fmt: skip
        elif not row.queries.keys.isin(queries).all():
            notes.append(f"{row.algo}: left out: found queries that the shipped rows do not have")
        elif any(math.isnan(row.values[name]) for name in MEASURES):
            notes.append(f"{row.algo}: left out: found a measure without a value")
        else:
            rows.append(replace(row, algo=row.algo + YOURS))
    frame = replace(theirs, rows=(*ours.rows, *rows), unmeasured=())
    return Board(frame, tuple(row.algo for row in rows), tuple(notes))


def families(row: Row) -> tuple[str, ...]:
    """Return the families of a row's algorithm; none of one that is not known here."""
    try:
        return ranker(row.label.algo).families
    except UsageError:
        return ()


def board_table(each: Board, measure: str, every: bool = False) -> Table:
    """A row an algorithm, the best first; printed numbers of others are rows without a place.

    every: whether all `MEASURES` are columns.
    """
    frame, rows = each.frame, best_first(comparable(each.frame), measure)
    drawn = _drawn(each).rows
    means = ranks_of(_values(drawn, measure)).mean(axis=0).tolist()
    ranks = dict(zip((row.algo for row in drawn), means))
    pairs = _tests(each, measure)
    signs = _signs(pairs, rows[0].algo)
    shown = dict.fromkeys([measure, *MEASURES] if every else [measure])
    lines: list[tuple[float, list]] = []
    for place, row in enumerate(rows, 1):
        kept = row.queries.counted(measure)
        low, high = Lead.over_nothing(kept.tables[measure], kept.folds).interval()
        values = [
            Cell(
                f"{row.values[name]:.4f}", row.values[name], spread=spread(row.deviation(name)),
                sign=signs.get(row.algo, 0) if name == measure else 0,
            )
            for name in shown
        ]  # fmt: skip
        kinds = families(row) or ("",)
        cells = [
            row.algo, place, values[0], Cell(f"[{low:.4f}, {high:.4f}]", low), high, *values[1:],
            ranks.get(row.algo), row.seconds, kinds[0], ", ".join(kinds[1:]),
        ]  # fmt: skip
        lines.append((row.values[measure], cells))
    for name, value, others in _of_papers(frame, measure):
        lines.append((value, _printed(name, others, list(shown))))
    lines.sort(key=lambda line: -sign(measure) * line[0])
    first, *rest = (Column(label(name), name=name) for name in shown)
    columns = (
        Column("algorithm", "left", "algo"),
        Column("place", name="place", form="d"),
        first,
        Column("95 % interval", name="low"),
        Column(name="high"),
        *rest,
        Column("mean rank", name="rank", form=".1f"),
        Column("seconds", name="seconds", form=".1f"),
        Column("family", "left", "family"),
        Column("kind", "left", "kind"),
    )
    n = len(rows[0].queries.qids)
    caption = (
        f"{frame.dataset}: {len(rows)} algorithms by {label(measure)} [{frame.conventions[0]}], "
        f"mean over the folds; interval of each mean by itself, over {n} queries and seeds; rank: "
        f"the mean over queries; seconds: all folds, selection included"
    )
    against = f"{rows[0].algo} (p < {PROCEDURE.alpha:g}, {PROCEDURE.over(pairs)})"
    notes = [*each.notes, *(() if every else conclusion(each, measure))]
    return replace(table(caption, columns, [line for _, line in lines], notes), against=against)


def _tests(each: Board, measure: str) -> tuple[Pair, ...]:
    """Every test of a page, corrected together: all rows against the best and the user's."""
    frame = replace(each.frame, rows=tuple(comparable(each.frame)))
    return family(frame, [r.algo for r in frame.rows if r.algo in each.own], PROCEDURE, measure)


def _signs(pairs: Sequence[Pair], name: str) -> dict[str, int]:
    """Whether the others differ significantly from one row: -1 is worse."""
    return {pair.a: pair.sign(PROCEDURE.alpha) for pair in pairs if pair.b == name}


def _of_papers(frame: Frame, measure: str) -> list[tuple[str, float, dict[str, float]]]:
    """The printed numbers of others: what to call a row, its value, its other measures."""
    found: dict[str, dict[str, float]] = {}
    for name in MEASURES:
        for row in lookup(frame.dataset, name):
            found.setdefault(f"{row.algorithm}, printed: {row.source}", {})[name] = row.value
    return [(name, own[measure], own) for name, own in found.items() if measure in own]


def _printed(name: str, own: dict[str, float], shown: Sequence[str]) -> list:
    values = (own.get(measure) for measure in shown)
    cells = [None if v is None else Cell(f"{v:.4f}", v) for v in values]
    return [name, None, cells[0], None, None, *cells[1:], None, None, "printed", ""]


def _values(rows: Sequence[Row], measure: str) -> np.ndarray:
    """(n_queries, n_rows): the values, more is better, of the queries that all rows have."""
    values = np.array([sign(measure) * row.queries.values[measure] for row in rows]).T
    return values[~np.isnan(values).any(axis=1)]


def verdict(each: Board, name: str, measure: str) -> str:
    """Return whether a row of the user's is better than the others, in a sentence or two."""
    rows = best_first(comparable(each.frame), measure)
    names = [row.algo for row in rows]
    if name not in names:
        return f"{name}: has fewer folds than the others, so that it has no place"
    others = {pair.a: pair for pair in _tests(each, measure) if pair.b == name}
    signs = [*_signs([*others.values()], name).values()]
    rival = next(other for other in names if other != name)
    return (
        f"{name}: place {names.index(name) + 1} of {len(names)} by {label(measure)}; significantly "
        f"better than {signs.count(-1)} of the {len(signs)} others and worse than "
        f"{signs.count(1)}; against {rival} {numbers(others[rival])}"
    )


def page(boards: Sequence[Board], measure: str, words: str) -> str:
    """The leaderboard as one HTML page that needs no other file and no network.

    words: the command line that made it.
    """
    sections = {each.frame.dataset: _section(each, measure) for each in boards}
    made = f"made by <code>{escape(words)}</code>"
    return document("letorbench: the leaderboard", "Which method ranks best?", made, sections)


def conclusion(each: Board, measure: str) -> list[str]:
    """Return which row is best, what it beats significantly, and the same of the user's rows."""
    best, pairs = best_first(comparable(each.frame), measure)[0].algo, _tests(each, measure)
    lead = conclusions(each.frame, pairs, best, PROCEDURE, measure)[:3]
    return [*lead, *(verdict(each, name, measure) for name in each.own)]


def _section(each: Board, measure: str) -> str:
    frame = each.frame
    parts = [paragraph(text, "lead") for text in conclusion(each, measure)]
    intervals = panel(_drawn(each), [measure])
    kinds = dict.fromkeys(kind for row in frame.rows for kind in families(row))
    parts += [
        '<p class="note">'
        + _choice("family", "Family", [*kinds, "printed"])
        + _choice("measure", "Measure", [label(name) for name in MEASURES])
        + "A click on a heading sorts.</p>",
        render(board_table(each, measure, every=True), "html"),
        "<h3>How sure are these numbers?</h3>",
        framed("main", f"{label(measure)} with 95 % intervals", draw([intervals])),
    ]
    if (ranked := _ranks(_drawn(each).rows, measure)) is not None:
        text, diagram = ranked
        parts += ["<h3>Which cannot be told apart by their ranks?</h3>", paragraph(text), diagram]
    spread_title = f"{label(measure)} of each family's algorithms, the best named"
    drawn = framed("main", spread_title, _spread(each, measure))
    parts += ["<h3>Does the family matter?</h3>", drawn]
    title = f"{label(measure)} against seconds of training"
    parts += ["<h3>What does it cost?</h3>", framed("main", title, _costs(each, measure))]
    return "\n".join(parts)


def _drawn(each: Board) -> Frame:
    """The rows that are ranked among each other and shown in figures: all but `random`."""
    rows = (row for row in comparable(each.frame) if row.label.algo != RANDOM)
    return replace(each.frame, rows=tuple(rows))


def _choice(name: str, title: str, options: Sequence[str]) -> str:
    every = "".join(f"<option>{escape(each)}</option>" for each in options)
    return (
        f'<label>{title} <select data-choice="{name}"><option value="">all</option>{every}'
        "</select></label> "
    )


def _ranks(rows: Sequence[Row], measure: str) -> tuple[str, str] | None:
    """What Friedman's test over queries says, and the critical-difference diagram."""
    if len(rows) < 3:
        return None
    values = _values(rows, measure)
    statistic, p = friedman(values)
    difference = critical_difference(len(rows), len(values))
    text = (
        f"Friedman's test over {len(values)} queries: chi-squared {statistic:.0f}, p "
        f"{probability(p)}. A bar joins algorithms whose mean ranks differ by less than Nemenyi's "
        f"critical difference, {difference:.2f}. This compares ranks in all pairs, the marks above "
        "means with the best."
    )
    ranks = ranks_of(values).mean(axis=0)
    figure = draw_ranks([row.algo for row in rows], ranks, difference)
    return text, framed("main", f"Mean ranks over queries by {label(measure)}", figure)


def _spread(each: Board, measure: str) -> Figure:
    """Draw a row a family: a point an algorithm, the best named."""
    rows = best_first(_drawn(each).rows, measure)
    own = {kind: [row for row in rows if kind in families(row)] for kind in FAMILY_ORDER}
    own = {kind: members for kind, members in own.items() if members}
    figure = new_figure(5.5, 0.6 + 0.3 * len(own))
    axes = figure.subplots()
    for y, members in enumerate(own.values()):
        values = [row.values[measure] for row in members]
        axes.plot(values, [y] * len(values), "|", color=COLOURS[3], markersize=9)
        axes.annotate(
            members[0].algo, (values[0], y), (4, 0), textcoords="offset points", size=7, va="center"
        )
    axes.set_yticks(range(len(own)), [f"{kind} ({len(of)})" for kind, of in own.items()])
    axes.set_ylim(len(own) - 0.5, -0.5)
    axes.margins(x=0.15)
    dress(axes, each.frame.dataset, label(measure), "")
    return figure


def _costs(each: Board, measure: str) -> Figure:
    """Draw a point a row: its value against its training seconds; the best for the time named."""
    rows, named, best = best_first(_drawn(each).rows, measure), set(each.own), math.inf
    points = []
    for row in rows:
        if row.seconds:
            points.append((row.seconds, row.values[measure], row.algo))
    for seconds, _, name in points:  # the best value first: named is what costs less than all above
        if seconds < best:
            best = seconds
            named.add(name)
    slowest = max((seconds for seconds, *_ in points), default=1.0)
    figure = new_figure(5.5, 3.6)
    axes = figure.subplots()
    for seconds, value, name in points:
        colour = COLOURS[1] if name in each.own else COLOURS[3]
        axes.plot([seconds], [value], "o", color=colour)
        if name in named:
            side = "right" if seconds > 0.3 * slowest else "left"
            offset = (-4 if side == "right" else 4, 4)
            axes.annotate(
                name, (seconds, value), offset, textcoords="offset points", size=7, ha=side
            )
    axes.set_xscale("log")
    dress(axes, each.frame.dataset, "seconds, all folds and the selection", label(measure))
    return figure
