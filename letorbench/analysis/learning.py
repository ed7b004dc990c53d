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
from letorbench.analysis.tables import Cell, Column, Table, data
from letorbench.datasets.catalog import parse
from letorbench.errors import DataError, UsageError
from letorbench.results.per_query import PerQuery


@dataclass(frozen=True)
class Point:
    """An algorithm trained on a share of the training queries."""

    dataset: str
    algo: str
    share: float
    #: the mean over queries, and the ends of its 95 % interval over queries and seeds
    mean: float
    low: float
    high: float


def points(results: Mapping[str, Sequence[PerQuery]], measure: str) -> list[list[Point]]:
    """Return the points of each data set that has several shares, by algorithm and share.

    All points of a data set are means over the same queries, of the folds that all have.

    Parameters
    ----------
    results : mapping
        From the name of a data set, with its share, to the systems that were run on it.
    measure : str

    Raises
    ------
    UsageError
        No data set has several shares.
    DataError
        The shares of a data set have no fold in common.
    """
    sets: dict[str, dict[float, Sequence[PerQuery]]] = {}
    for name, systems in results.items():
        named = parse(name)
        sets.setdefault(named.whole, {})[named.share] = systems
    several = {name: by_share for name, by_share in sets.items() if len(by_share) > 1}
    if not several:
        raise UsageError(
            "found no data set with several shares of its training queries; "
            "`letorbench run --share 0.1,0.3,1` makes them"
        )
    return [_points(name, by_share, measure) for name, by_share in several.items()]


def _points(
    dataset: str, by_share: Mapping[float, Sequence[PerQuery]], measure: str
) -> list[Point]:
    folds = reduce(np.intersect1d, [each.folds for own in by_share.values() for each in own])
    if not len(folds):
        raise DataError(f"{dataset}: its shares have no fold in common: run the missing folds")
    found = []
    for share, systems in by_share.items():
        for system in systems:
            own = system.only(folds)
            lead = Lead.over_nothing(own.tables[measure], own.folds)
            found.append(Point(dataset, own.algo, share, float(lead.mean), *lead.interval()))
    return sorted(found, key=lambda point: (point.algo, point.share))


def learning_table(found: Sequence[Point], measure: str, convention: str) -> Table:
    """A row an algorithm and share of one data set."""
    rows = [
        (
            data(p.dataset),
            Cell(p.algo, p.algo),
            Cell(f"{p.share:g}", p.share),
            Cell(f"{p.mean:.4f}", p.mean),
            Cell(f"[{p.low:.4f}, {p.high:.4f}]", p.low),
            data(p.high),
        )
        for p in found
    ]
    columns = (
        Column(name="dataset"),
        Column("algorithm", "left", "algo"),
        Column("share", name="share"),
        Column(label(measure), name=measure),
        Column("95 % interval", name="low"),
        Column(name="high"),
    )
    caption = (
        f"{found[0].dataset}, {label(measure)} [{convention}]: mean over the queries of the folds "
        "that all have, by the share of the training queries; intervals over queries and seeds"
    )
    return Table(caption, columns, tuple(rows))


def learning_panel(found: Sequence[Point], measure: str, convention: str) -> Panel:
    """The points of one data set as lines over the share, NaN where an algorithm has none."""
    x = sorted({point.share for point in found})
    at = {(p.algo, p.share): (p.mean, p.low, p.high) for p in found}
    nothing = (math.nan, math.nan, math.nan)
    of = {p.algo: [*zip(*(at.get((p.algo, share), nothing) for share in x))] for p in found}
    return Panel(
        f"{found[0].dataset} dataset",
        f"{label(measure)} ({convention})",
        {algo: means for algo, (means, *_) in of.items()},
        {algo: (lows, highs) for algo, (_, lows, highs) in of.items()},
        "95 % intervals over queries and seeds",
        x,
    )
