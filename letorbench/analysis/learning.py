"""Learning curves: a measure against the share of the training queries that was trained on."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from letorbench.analysis.figures import Panel
from letorbench.analysis.leads import Lead
from letorbench.analysis.results_table import label
from letorbench.analysis.tables import Cell, Column, Table, table
from letorbench.datasets.catalog import parse
from letorbench.errors import DataError, UsageError
from letorbench.results.summary import Row, Summary


@dataclass(frozen=True)
class Point:
    """An algorithm trained on a share of the training queries."""

    dataset: str
    algo: str
    share: float
    #: what it was measured by, and by whose rules
    measure: str
    convention: str
    #: the mean over queries, and the ends of its 95 % interval over queries and seeds
    mean: float
    low: float
    high: float


def points(summaries: Sequence[Summary], measure: str) -> list[list[Point]]:
    """Return the points of each data set that has several shares, by algorithm and share.

    All points of a data set are means over the same queries, of the folds that all have.
    UsageError says that no data set has several shares, DataError that its shares have no fold in
    common.
    """
    sets: dict[str, dict[float, tuple[Row, ...]]] = {}
    for summary in summaries:
        named = parse(summary.dataset)
        sets.setdefault(named.whole, {})[named.share] = summary.rows
    several = {name: by_share for name, by_share in sets.items() if len(by_share) > 1}
    if not several:
        raise UsageError(
            "found no data set with several shares of its training queries; "
            "`letorbench run --share 0.1,0.3,1` makes them"
        )
    return [_points(name, by_share, measure) for name, by_share in several.items()]


def _points(dataset: str, by_share: Mapping[float, Sequence[Row]], measure: str) -> list[Point]:
    folds = reduce(np.intersect1d, [r.queries.folds for rows in by_share.values() for r in rows])
    if not len(folds):
        raise DataError(f"{dataset}: its shares have no fold in common: run the missing folds")
    found = []
    for share, rows in by_share.items():
        for row in rows:
            own = row.queries.only(folds)
            lead = Lead.over_nothing(own.tables[measure], own.folds)
            place = (dataset, row.algo, share, measure, row.convention)
            found.append(Point(*place, float(lead.mean), *lead.interval()))
    return sorted(found, key=lambda point: (point.algo, point.share))


def learning_table(found: Sequence[Point]) -> Table:
    """A row an algorithm and share of one data set."""
    measure = found[0].measure
    rows = [
        (p.dataset, p.algo, p.share, p.mean, Cell(f"[{p.low:.4f}, {p.high:.4f}]", p.low), p.high)
        for p in found
    ]
    columns = (
        Column(name="dataset"),
        Column("algorithm", "left", "algo"),
        Column("share", name="share", form="g"),
        Column(label(measure), name=measure, form=".4f"),
        Column("95 % interval", name="low"),
        Column(name="high"),
    )
    caption = (
        f"{found[0].dataset}, {label(measure)} [{_conventions(found)}]: mean over the queries of "
        "the folds that all have, by the share of the training queries; intervals over queries "
        "and seeds"
    )
    return table(caption, columns, rows)


def _conventions(found: Sequence[Point]) -> str:
    return ", ".join(dict.fromkeys(point.convention for point in found))


def learning_panel(found: Sequence[Point]) -> Panel:
    """The points of one data set as lines over the share, NaN where an algorithm has none."""
    x = sorted({point.share for point in found})
    at = {(p.algo, p.share): (p.mean, p.low, p.high) for p in found}
    nothing = (math.nan, math.nan, math.nan)
    of = {p.algo: [*zip(*(at.get((p.algo, share), nothing) for share in x))] for p in found}
    return Panel(
        f"{found[0].dataset} dataset",
        f"{label(found[0].measure)} ({_conventions(found)})",
        {algo: means for algo, (means, *_) in of.items()},
        {algo: (lows, highs) for algo, (_, lows, highs) in of.items()},
        "95 % intervals over queries and seeds",
        x,
    )
