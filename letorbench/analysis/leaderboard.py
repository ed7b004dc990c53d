"""The leaderboard: every algorithm under one protocol, and a user's results among them.

`shipped/` has a file per data set with the values of our own runs, of five seeds where an algorithm
draws random numbers. A user's rows are paired with them by query and tested as in `compare`.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench import escaping
from letorbench.analysis import figures, tables
from letorbench.analysis.comparison import Pair, Procedure
from letorbench.analysis.conclusions import conclusions, numbers, page_tests
from letorbench.analysis.paired import MeanDifference
from letorbench.analysis.published import lookup
from letorbench.analysis.ranks import critical_difference, draw_ranks, friedman, ranks_of
from letorbench.analysis.results_table import best_first, comparable, early, early_notes, label
from letorbench.analysis.tables import Cell, Column, Table, probability, render, table
from letorbench.errors import DataError, UsageError
from letorbench.measures import sign
from letorbench.rankers import ranker
from letorbench.results.dataset_results import DatasetResults, SystemResults
from letorbench.results.labels import Label
from letorbench.results.packed import read_packed
from letorbench.version import __version__

if TYPE_CHECKING:
    from matplotlib.figure import Figure

#: of the shipped rows
MEASURES = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map", "err@10")
#: the quick test that counts queries and seeds
PROCEDURE = Procedure("t")
#: the families by loss, then by model
FAMILY_ORDER = ("pointwise", "pairwise", "listwise", "linear", "nets", "boosting", "trees")
#: the file of the names of `recommended`
RECOMMENDED = "recommended.txt"
#: what a page filters by: seconds at most
COSTS = (1, 10, 100, 1000)
#: the protocols of the table of tuning, in its order; the other tables have the second one's rows
PROTOCOLS = ("published", "default", "tuned")
#: stands behind the name of a user's row
YOURS = " (yours)"


@dataclass(frozen=True, eq=False)
class Board:
    """The compared rows of one data set, the user's among them."""

    frame: DatasetResults
    #: the names of the user's rows
    users: tuple[str, ...] = ()
    #: a line for each of the user's rows that is left out
    notes: tuple[str, ...] = ()
    #: the rows of every protocol
    every: tuple[SystemResults, ...] = ()


def files() -> dict[str, Path]:
    """Return the shipped files by their data sets."""
    folder = Path(str(resources.files("letorbench.analysis"))) / "shipped"
    return {path.stem: path for path in sorted(folder.glob("*.zip"))}


def recommended() -> list[str]:
    """Return the answer of `never_beaten` for the shipped data sets, which is stored with them."""
    text = resources.files("letorbench.analysis").joinpath("shipped", RECOMMENDED)
    return text.read_text("utf-8").split()


def never_beaten(frames: Sequence[DatasetResults], measure: str = MEASURES[3]) -> list[str]:
    """Return the algorithms that are on no data set significantly worse than its best one."""
    unbeaten = []
    for frame in frames:
        rows = best_first(comparable(frame), measure)
        signs = _signs(_tests(Board(frame), measure), rows[0].algo)
        unbeaten.append({row.algo for row in rows if signs.get(row.algo, 0) >= 0})
    return sorted(set.intersection(*unbeaten)) if unbeaten else []


def protocol_of(row: SystemResults) -> str:
    return dict(row.label.settings).get("protocol", PROTOCOLS[1])


def shipped(dataset: str, every: bool = False) -> DatasetResults:
    """Return the shipped rows of a data set; DataError if there are none.

    every: also those of other protocols than the default one.
    """
    if dataset not in files():
        raise DataError(
            f"{dataset}: found no shipped results, expected one of {', '.join(files())}"
        )
    return _with_protocols(read_packed(files()[dataset]), PROTOCOLS if every else PROTOCOLS[1:2])


def _with_protocols(frame: DatasetResults, protocols: Sequence[str]) -> DatasetResults:
    return frame.only(row.algo for row in frame.rows if protocol_of(row) in protocols)


def board(ours: DatasetResults, theirs: DatasetResults | None) -> Board:
    """Return the shipped rows and a user's of the same data set.

    Shipped rows of other protocols than the default one are in the table of tuning alone. A user's
    row is left out, with a note, if it has another convention, other queries in its folds than the
    shipped rows, or a measure without a value.
    """
    every, ours = ours.rows, _with_protocols(ours, PROTOCOLS[1:2])
    if theirs is None:
        return Board(ours, every=every)
    theirs = theirs.measured(MEASURES)
    [convention] = ours.conventions
    queries = ours.rows[0].queries
    rows, notes = [], list(theirs.unmeasured)
    for row in theirs.rows:
        if row.convention != convention:
            notes.append(f"{row.algo}: left out: found convention {row.convention}, expected "
                         f"{convention}")  # fmt: skip
        elif not row.queries.keys.equals(queries.only(row.queries.folds).keys):
            notes.append(
                f"{row.algo}: left out: found other queries than those of the shipped rows"
            )
        elif any(math.isnan(row.values[name]) for name in MEASURES):
            notes.append(f"{row.algo}: left out: found a measure without a value")
        else:
            rows.append(replace(row, algo=row.algo + YOURS))
    frame = replace(theirs, rows=(*ours.rows, *rows), unmeasured=())
    users = tuple(row.algo for row in rows)
    return Board(frame, users, tuple(notes), (*every, *rows))


def families(row: SystemResults) -> tuple[str, ...]:
    """Return the families of a row's algorithm; none of an unknown one."""
    with suppress(UsageError):
        return ranker(row.label.algo).families
    return ()


def scaling(row: SystemResults) -> str:
    """Return how a row's algorithm transforms features that are not normalised; "" if unknown."""
    with suppress(UsageError):
        return ranker(row.label.algo)().auto_features
    return ""


def board_table(each: Board, measure: str, every: bool = False) -> Table:
    """A row per algorithm, the best first; numbers that papers print are rows without a place.

    every: whether all `MEASURES` are columns, and the scaling. In CSV low and high are the ends of
    the 95 % interval of each mean by itself.
    """
    frame, rows = each.frame, best_first(comparable(each.frame), measure)
    drawn = _drawn(each).rows
    means = ranks_of(_values(drawn, measure)).mean(axis=0).tolist()
    ranks = {row.algo: rank for row, rank in zip(drawn, means)}
    pairs = _tests(each, measure)
    from_best = {pair.a: pair for pair in pairs if pair.b == rows[0].algo}
    shown = dict.fromkeys([measure, *MEASURES] if every else [measure])
    lines: list[tuple[float, list]] = []
    for place, row in enumerate(rows, 1):
        pair = from_best.get(row.algo)
        value, *more = (tables.mean_cell(row.values[n], row.deviation(n)) for n in shown)
        value = replace(value, sign=pair.sign(PROCEDURE.alpha) if pair else 0)
        kind, *kinds = families(row) or ("",)
        name = f"{row.algo} ({', '.join(early(row))})" if early(row) else row.algo
        cells = [
            frame.dataset, Cell(name, row.algo), place, value, *more,
            pair and pair.difference.mean, pair and tables.p_cell(pair.adjusted),
            *MeanDifference.of_queries(row.queries, measure).interval(), ranks.get(row.algo),
            row.seconds, scaling(row), kind, ", ".join(kinds),
        ]  # fmt: skip
        lines.append((row.values[measure], cells))
    printed = defaultdict[str, dict[str, float]](dict)  # the numbers of papers
    for name in MEASURES:
        for number in lookup(frame.dataset, name):
            printed[number.name][name] = number.value
    for name, values in printed.items():
        if measure in values:
            cells = [tables.mean_cell(values[n]) if n in values else None for n in shown]
            cells = [frame.dataset, name, None, *cells, *[None] * 7, "printed", ""]
            lines.append((values[measure], cells))
    lines.sort(key=lambda line: -sign(measure) * line[0])
    columns = (
        tables.DATASET, tables.ALGORITHM, Column("place", name="place", form="d"),
        *(Column(label(name), name=name) for name in shown),
        Column("difference", name="difference", form="+.4f"),
        Column("adjusted", name="p_adjusted"), *tables.for_programs("low", "high"),
        Column("mean rank", name="rank", form=".1f"),
        Column("seconds", name="seconds", form=".1f"),
        Column("scaling" * every, "left", "scaling"), *tables.columns(["family", "kind"]),
    )  # fmt: skip
    n = len(rows[0].queries.qids)
    caption = (
        f"{frame.dataset}: {len(rows)} algorithms by {label(measure)} [{frame.conventions[0]}], "
        f"mean over the folds; difference from the best, over {n} queries and seeds; "
        "mean rank over queries; seconds of all folds with their selection"
        f"{'; scaling of features that are not normalised' * every}"
    )
    against = f"{rows[0].algo} (p < {PROCEDURE.alpha:g}, {PROCEDURE.over(pairs)})"
    notes = [*each.notes, *early_notes(rows), *(() if every else conclusion(each, measure))]
    return replace(table(caption, columns, [line for _, line in lines], notes), against=against)


def tuning_table(each: Board, measure: str) -> Table | None:
    """A row per algorithm that was run whole under several protocols: its value and seconds under
    each, the gain of tuning with its 95 % interval by itself; the largest gain first. None if there
    is no such row.
    """
    by_name = defaultdict[str, dict[str, SystemResults]](dict)
    for row in each.every:
        if row.folds < row.n_folds:  # its numbers are of other queries
            continue
        settings = (item for item in row.label.settings if item[0] not in ("protocol", "budget"))
        name = str(Label(row.label.algo, tuple(settings))) + YOURS * row.algo.endswith(YOURS)
        by_name[name].setdefault(protocol_of(row), row)
    lines: list[list[Any]] = []
    for name, rows in by_name.items():
        if len(rows) < 2:
            continue
        cells: list[Any] = [each.frame.dataset, name]
        for one in map(rows.get, PROTOCOLS):
            cells += [one and one.values[measure], one and one.seconds]
        gain: tuple[float | None, ...] = None, None, None
        if {"default", "tuned"} <= set(rows):
            ours, theirs = (rows[k].queries.counted(measure) for k in ("tuned", "default"))
            mean = MeanDifference.of(ours.tables[measure], theirs.tables[measure], ours.folds)
            gain = mean.mean, *mean.interval()
        lines.append([*cells, *gain])
    lines.sort(key=lambda line: -sign(measure) * (line[-3] or 0.0))
    columns = [tables.DATASET, tables.ALGORITHM]
    for name in PROTOCOLS:
        columns += tables.columns([], {name: ".4f"})
        columns.append(Column("seconds", form=".1f", name=f"{name} seconds"))
    columns += tables.columns([], dict.fromkeys(("gain", "low", "high"), "+.4f"))
    caption = (
        f"{each.frame.dataset}: {label(measure)} under three protocols, seconds of all folds with "
        "their selection; gain of tuning over the default per query, with its 95 % interval by "
        "itself"
    )
    return table(caption, columns, lines) if lines else None


def _tests(each: Board, measure: str) -> tuple[Pair, ...]:
    """All rows against the best and the user's, corrected together."""
    frame = replace(each.frame, rows=tuple(comparable(each.frame)))
    users = [row.algo for row in frame.rows if row.algo in each.users]
    return page_tests(frame, users, PROCEDURE, measure)


def _signs(pairs: Sequence[Pair], name: str) -> dict[str, int]:
    """-1 for the rows that are significantly worse than one, +1 for those that are better."""
    return {pair.a: pair.sign(PROCEDURE.alpha) for pair in pairs if pair.b == name}


def _values(rows: Sequence[SystemResults], measure: str) -> np.ndarray:
    """(n_queries, n_rows) values, more is better, of the queries that all rows have."""
    values = np.array([sign(measure) * row.queries.values[measure] for row in rows]).T
    return values[~np.isnan(values).any(axis=1)]


def verdict(each: Board, name: str, measure: str) -> str:
    """Return the place of a user's row, and which rows it differs from significantly."""
    rows = best_first(comparable(each.frame), measure)
    names = [row.algo for row in rows]
    if name not in names:
        return f"{name}: has fewer folds than the others, and so no place"
    others = {pair.a: pair for pair in _tests(each, measure) if pair.b == name}
    signs = [*_signs([*others.values()], name).values()]
    rival = next(other for other in names if other != name)
    return (
        f"{name}: place {names.index(name) + 1} of {len(names)} by {label(measure)}; significantly "
        f"better than {signs.count(-1)} of the {len(signs)} others and worse than "
        f"{signs.count(1)}; against {rival} {numbers(others[rival])}"
    )


def conclusion(each: Board, measure: str) -> list[str]:
    """Return sentences on the best row, the rows that it beats significantly, and the user's."""
    best, pairs = best_first(comparable(each.frame), measure)[0].algo, _tests(each, measure)
    sentences = conclusions(each.frame, pairs, best, PROCEDURE, measure)[:3]
    return [*sentences, *(verdict(each, name, measure) for name in each.users)]


def page(boards: Sequence[Board], measure: str, words: str) -> str:
    """The leaderboard as an HTML page that needs no other file; words: the command line."""
    return escaping.page(
        "leaderboard.html",
        title="letorbench: the leaderboard", heading="Which method ranks best?",
        version=__version__, words=words, costs=COSTS,
        csv=render([board_table(each, measure, every=True) for each in boards], "csv"),
        sections={each.frame.dataset: _section(each, measure) for each in boards},
    )  # fmt: skip


def _section(each: Board, measure: str) -> dict[str, Any]:
    """What the template shows of a data set."""
    drawn = _drawn(each)
    kinds = dict.fromkeys(kind for row in each.frame.rows for kind in families(row))
    return {
        "conclusions": conclusion(each, measure),
        "families": [*kinds, "printed"],
        "scaling": sorted({scaling(row) for row in each.frame.rows} - {""}),
        "measures": [label(name) for name in MEASURES],
        "measure": label(measure),
        "table": board_table(each, measure, every=True),
        "tuning": tuning_table(each, measure),
        "intervals": figures.data_uri(figures.draw([figures.panel(drawn, [measure])])),
        "ranks": _ranks(drawn.rows, measure) if len(drawn.rows) > 2 else None,
        "by_family": figures.data_uri(_by_family(each, measure)),
        "costs": figures.data_uri(_costs(each, measure)),
    }


def _drawn(each: Board) -> DatasetResults:
    """The rows that are ranked among each other and drawn: all but `random`."""
    return each.frame.only(row.algo for row in comparable(each.frame) if not row.reference)


def _ranks(rows: Sequence[SystemResults], measure: str) -> dict[str, str]:
    """Friedman's test over queries in words, and the critical-difference diagram."""
    values = _values(rows, measure)
    statistic, p = friedman(values)
    difference = critical_difference(len(rows), len(values))
    text = (
        f"Friedman's test over {len(values)} queries: chi-squared {statistic:.0f}, p "
        f"{probability(p)}. A bar joins algorithms whose mean ranks differ by less than Nemenyi's "
        f"critical difference, {difference:.2f}. The diagram compares the ranks of all pairs; the "
        "marks in the table compare means with the best algorithm's."
    )
    ranks = ranks_of(values).mean(axis=0)
    figure = draw_ranks([row.algo for row in rows], ranks, difference)
    return {"text": text, "image": figures.data_uri(figure)}


def _by_family(each: Board, measure: str) -> Figure:
    """Draw one line per family with a mark per algorithm, the best one named."""
    rows = best_first(_drawn(each).rows, measure)
    every = {kind: [row for row in rows if kind in families(row)] for kind in FAMILY_ORDER}
    every = {kind: members for kind, members in every.items() if members}
    figure = figures.new_figure(5.5, 0.6 + 0.3 * len(every))
    axes = figure.subplots()
    for y, members in enumerate(every.values()):
        values = [row.values[measure] for row in members]
        axes.plot(values, [y] * len(values), "|", color=figures.COLOURS[3], markersize=9)
        best, at = escaping.figure(members[0].algo), (values[0], y)
        axes.annotate(best, at, (4, 0), textcoords="offset points", size=7, va="center")
    axes.set_yticks(range(len(every)), [f"{kind} ({len(of)})" for kind, of in every.items()])
    axes.set_ylim(len(every) - 0.5, -0.5)
    axes.margins(x=0.15)
    figures.dress(axes, each.frame.dataset, label(measure), "")
    return figure


def _costs(each: Board, measure: str) -> Figure:
    """Draw each row's value against its training seconds; the best for the time are named."""
    rows, named, best = best_first(_drawn(each).rows, measure), set(each.users), math.inf
    points = [(row.seconds, row.values[measure], row.algo) for row in rows if row.seconds]
    for seconds, _, name in points:  # the best first: named are those that cost less than all above
        if seconds < best:
            best = seconds
            named.add(name)
    slowest = max((seconds for seconds, *_ in points), default=1.0)
    figure = figures.new_figure(5.5, 3.6)
    axes = figure.subplots()
    for seconds, value, name in points:
        colour = figures.COLOURS[1] if name in each.users else figures.COLOURS[3]
        axes.plot([seconds], [value], "o", color=colour)
        if name in named:
            side = "right" if seconds > 0.3 * slowest else "left"
            text, offset = escaping.figure(name), (-4 if side == "right" else 4, 4)
            axes.annotate(
                text, (seconds, value), offset, textcoords="offset points", size=7, ha=side
            )
    axes.set_xscale("log")
    figures.dress(axes, each.frame.dataset, "seconds, all folds and the selection", label(measure))
    return figure
