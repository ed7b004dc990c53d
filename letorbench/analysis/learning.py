"""Learning curves: a measure against the share of the training queries that was trained on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import NamedTuple

import numpy as np

from letorbench.analysis.figures import INTERVALS, Panel
from letorbench.analysis.leads import Lead
from letorbench.analysis.results_table import label
from letorbench.analysis.tables import Cell, Column, Table, table
from letorbench.datasets.catalog import parse
from letorbench.errors import DataError, UsageError
from letorbench.results.frame import Frame


class LearningCurves(NamedTuple):
    """The algorithms of one data set that were trained on shares of its training queries."""

    #: a row an algorithm and share
    table: Table
    #: a line an algorithm over the share, NaN where it was not trained on one
    panel: Panel


def learning_curves(frames: Sequence[Frame], measure: str) -> list[LearningCurves]:
    """Return the learning curves of each data set that has several shares.

    All points of a data set are means over the same queries, of the folds that all have.
    UsageError says that no data set has several shares, DataError that its shares have no fold in
    common.
    """
    sets: dict[str, list[Frame]] = {}
    for frame in frames:
        sets.setdefault(parse(frame.dataset).whole, []).append(frame)
    several = {name: shares for name, shares in sets.items() if len(shares) > 1}
    if not several:
        raise UsageError(
            "found no data set with several shares of its training queries; "
            "`letorbench run --share 0.1,0.3,1` makes them"
        )
    return [_curves(name, shares, measure) for name, shares in several.items()]


def _curves(dataset: str, shares: Sequence[Frame], measure: str) -> LearningCurves:
    rows = [(row, parse(frame.dataset).share) for frame in shares for row in frame.rows]
    rows.sort(key=lambda each: (each[0].algo, each[1]))
    folds = reduce(np.intersect1d, [row.queries.folds for row, _ in rows])
    if not len(folds):
        raise DataError(f"{dataset}: its shares have no fold in common: run the missing folds")
    x = sorted({share for _, share in rows})
    cells = []
    lines = {row.algo: np.full((3, len(x)), math.nan) for row, _ in rows}
    for row, share in rows:
        own = row.queries.only(folds)
        lead = Lead.over_nothing(own.tables[measure], own.folds)
        mean, (low, high) = float(lead.mean), lead.interval()
        cells.append((dataset, row.algo, share, mean, Cell(f"[{low:.4f}, {high:.4f}]", low), high))
        lines[row.algo][:, x.index(share)] = mean, low, high
    columns = (
        Column(name="dataset"),
        Column("algorithm", "left", "algo"),
        Column("share", name="share", form="g"),
        Column(label(measure), name=measure, form=".4f"),
        Column("95 % interval", name="low"),
        Column(name="high"),
    )
    conventions = ", ".join(dict.fromkeys(row.convention for row, _ in rows))
    caption = (
        f"{dataset}, {label(measure)} [{conventions}]: mean over the queries of the folds that all "
        f"have, by the share of the training queries; {INTERVALS}, over queries and seeds"
    )
    panel = Panel(
        f"{dataset} dataset",
        f"{label(measure)} ({conventions})",
        {algo: means.tolist() for algo, (means, _, _) in lines.items()},
        {algo: (low, high) for algo, (_, low, high) in lines.items()},
        f"{INTERVALS}, over queries and seeds",
        x,
    )
    return LearningCurves(table(caption, columns, cells), panel)
