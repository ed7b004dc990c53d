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
from letorbench.results.summary import Summary


@dataclass(frozen=True)
class LearningCurves:
    """The algorithms of one data set that were trained on shares of its training queries."""

    dataset: str
    measure: str
    #: whose rules the values are of
    conventions: str
    #: from an algorithm and a share to the mean over queries, and the ends of its 95 % interval
    #: over queries and seeds
    points: Mapping[tuple[str, float], tuple[float, float, float]]

    @property
    def table(self) -> Table:
        """A row an algorithm and share."""
        rows = [
            (self.dataset, algo, share, mean, Cell(f"[{low:.4f}, {high:.4f}]", low), high)
            for (algo, share), (mean, low, high) in self.points.items()
        ]
        columns = (
            Column(name="dataset"),
            Column("algorithm", "left", "algo"),
            Column("share", name="share", form="g"),
            Column(label(self.measure), name=self.measure, form=".4f"),
            Column("95 % interval", name="low"),
            Column(name="high"),
        )
        caption = (
            f"{self.dataset}, {label(self.measure)} [{self.conventions}]: mean over the queries of "
            "the folds that all have, by the share of the training queries; intervals over queries "
            "and seeds"
        )
        return table(caption, columns, rows)

    @property
    def panel(self) -> Panel:
        """A line an algorithm over the share, NaN where it was not trained on one."""
        x = sorted({share for _, share in self.points})
        names = dict.fromkeys(algo for algo, _ in self.points)
        edges = {
            algo: [*zip(*(self.points.get((algo, share), (math.nan,) * 3) for share in x))]
            for algo in names
        }
        return Panel(
            f"{self.dataset} dataset",
            f"{label(self.measure)} ({self.conventions})",
            {algo: means for algo, (means, _, _) in edges.items()},
            {algo: (low, high) for algo, (_, low, high) in edges.items()},
            "95 % intervals over queries and seeds",
            x,
        )


def learning_curves(summaries: Sequence[Summary], measure: str) -> list[LearningCurves]:
    """Return the learning curves of each data set that has several shares.

    All points of a data set are means over the same queries, of the folds that all have.
    UsageError says that no data set has several shares, DataError that its shares have no fold in
    common.
    """
    sets: dict[str, list[Summary]] = {}
    for summary in summaries:
        sets.setdefault(parse(summary.dataset).whole, []).append(summary)
    several = {name: shares for name, shares in sets.items() if len(shares) > 1}
    if not several:
        raise UsageError(
            "found no data set with several shares of its training queries; "
            "`letorbench run --share 0.1,0.3,1` makes them"
        )
    return [_curves(name, shares, measure) for name, shares in several.items()]


def _curves(dataset: str, shares: Sequence[Summary], measure: str) -> LearningCurves:
    rows = [(row, parse(summary.dataset).share) for summary in shares for row in summary.rows]
    rows.sort(key=lambda each: (each[0].algo, each[1]))
    folds = reduce(np.intersect1d, [row.queries.folds for row, _ in rows])
    if not len(folds):
        raise DataError(f"{dataset}: its shares have no fold in common: run the missing folds")
    points = {}
    for row, share in rows:
        own = row.queries.only(folds)
        lead = Lead.over_nothing(own.tables[measure], own.folds)
        points[row.algo, share] = (float(lead.mean), *lead.interval())
    conventions = ", ".join(dict.fromkeys(row.convention for row, _ in rows))
    return LearningCurves(dataset, measure, conventions, points)
