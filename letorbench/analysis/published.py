"""Results as papers and sites print them, beside ours: the difference, by fold where possible.

`published.csv` holds a mean a row, `published_by_fold.csv` the folds that some sources print too,
and `sources.csv` where they were printed. A row says with what name its source calls the data set
and the algorithm; which of ours they are is said here.
"""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from letorbench.analysis.figures import Panel
from letorbench.analysis.results_table import caption, label, partial_note, spread
from letorbench.analysis.tables import Cell, Column, Table, data
from letorbench.datasets.catalog import CATALOG, normalized, parse
from letorbench.rankers import places
from letorbench.results.per_query import PerQuery
from letorbench.results.summary import Summary

#: what a table says of our numbers beside those of single runs
SEEDS = "ours: mean ± standard deviation over seeds; published: as printed, of single runs"
#: what it says where numbers are published by fold
FOLDS = "; folds: the difference there; interval of their mean by Student's t, * = 0 is outside"

#: the data set of a name as printed, where it is not the catalog's but for case and punctuation.
#: MSLR-WEB30K-Fold1 is not here: the numbers of one fold are not the data set's.
DATASETS = {printed: entry.name for entry in CATALOG.values() for printed in entry.published_as}

#: a printed name that is not ours but for case and punctuation -> our ranker of the same method.
#: Those with another are not here: lgrz's "GBDT (XGBoost)" is multiple classification, jforests and
#: QuickRank are other programs, and MQ2007's plain "AdaRank" does not say what it boosts on.
ALIASES = {
    "RankSVM-Struct": "ranksvm",
    "LightGBM(2020 log)": "lightgbm",
    "LambdaRank (LightGBM)": "lightgbm",
    "xgboost(log)": "xgboost",
    "xgboost_hist": "xgboost",
    "xgboost_hist(log)": "xgboost",
}


@dataclass(frozen=True)
class Published:
    """One printed number."""

    #: the short name of the source
    source: str
    #: the names that the source uses
    dataset: str
    algorithm: str
    #: in our spelling (`ndcg@10`, `map`), also of measures that we do not have
    measure: str
    #: the number, and its digits as printed ("0.320")
    value: float
    printed: str
    #: what else the source says, such as another convention
    note: str
    #: how one cites the source
    reference: str
    #: from "train", "validation" and "test" to the numbers of the folds 1, 2, ... there; empty
    #: where the source prints no folds
    folds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def ours(self) -> str | None:
        """The name of our ranker of that method, or None."""
        known = {_letters(name): name for name in places()}
        return ALIASES.get(self.algorithm) or known.get(_letters(self.algorithm))


@cache
def published() -> tuple[Published, ...]:
    """Every printed number, in the file's order."""
    references = {row["source"]: row["reference"] for row in _rows("sources.csv")}
    folds: dict[tuple[str, ...], dict[str, tuple[float, ...]]] = {}
    for row in _rows("published_by_fold.csv"):
        numbers = tuple(float(row[str(k)]) for k in range(1, 6))
        folds.setdefault(_key(row), {})[row["part"]] = numbers
    return tuple(
        Published(
            *_key(row),
            float(row["value"]),
            row["value"],
            row["note"],
            references[row["source"]],
            folds.get(_key(row), {}),
        )  # fmt: skip
        for row in _rows("published.csv")
    )


def lookup(dataset: str, measure: str) -> tuple[Published, ...]:
    """What is printed of a data set at a measure.

    dataset: as a user names it; for a variant or a twin of a data set nothing is published.
    measure: text such as `ndcg@10`, in any case.
    """
    name, measure = normalized(parse(dataset).label), measure.strip().lower()
    return tuple(
        row
        for row in published()
        if row.measure == measure and normalized(DATASETS.get(row.dataset, row.dataset)) == name
    )


def _letters(name: str) -> str:
    return re.sub("[^a-z0-9]", "", name.lower())


def _key(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    """Return the source, the data set, the algorithm and the measure of a row."""
    measure = row["metric"].lower() + (f"@{row['cutoff']}" if row["cutoff"] else "")
    return row["source"], row["dataset"], row["algorithm"], measure


def _rows(name: str) -> Iterator[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


@dataclass(frozen=True)
class Beside:
    """A published number beside ours of the same method."""

    algo: str
    measure: str
    printed: Published
    #: our mean and its standard deviation over seeds; None for what was not run or has one seed
    ours: float | None
    deviation: float | None
    #: ours and the published number of each fold that has both, by the fold's number
    folds: Mapping[int, tuple[float, float]]

    @property
    def difference(self) -> float | None:
        return None if self.ours is None else self.ours - self.printed.value

    @property
    def differences(self) -> dict[int, float]:
        return {k: ours - printed for k, (ours, printed) in self.folds.items()}

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the folds' mean difference; None for fewer than two folds."""
        from scipy import stats

        values, n = list(self.differences.values()), len(self.folds)
        if n < 2:
            return None
        low, high = stats.t.interval(0.95, n - 1, np.mean(values), stats.sem(values))
        return float(low), float(high)


def beside(
    summary: Summary, measures: Sequence[str], systems: Sequence[PerQuery] = ()
) -> list[Beside]:
    """What is published of the data set at these measures, our algorithms first.

    systems: ours by query, for the numbers of folds.
    """
    rows = {row.algo: row for row in summary.rows}
    by_query = {system.algo: system for system in systems}
    result = []
    for measure in measures:
        for printed in lookup(summary.dataset, measure):
            row, system = rows.get(printed.ours or ""), by_query.get(printed.ours or "")
            ours = system.fold_means(measure) if system and printed.folds else {}
            theirs = dict(enumerate(printed.folds.get("test", ()), 1))
            value, deviation = (
                (row.values.get(measure), row.deviation(measure)) if row else (None,) * 2
            )
            folds = {k: (ours[k], theirs[k]) for k in ours if k in theirs}
            algo = printed.ours or printed.algorithm
            result.append(Beside(algo, measure, printed, value, deviation, folds))
    order = {algo: i for i, algo in enumerate(rows)}
    return sorted(result, key=lambda each: (order.get(each.algo, len(order)), each.algo))


def published_table(
    summary: Summary, measures: Sequence[str], systems: Sequence[PerQuery] = ()
) -> Table:
    """The published numbers beside ours, with a note for each source.

    People read a row a number, with the difference in each fold and the 95 % interval of the
    folds' mean difference, by Student's t. Programs read the folds in rows below that of the mean,
    the published numbers as they are printed.
    """
    every = beside(summary, measures, systems)
    title = f"{summary.dataset}: nothing is published at {', '.join(map(label, measures))}"
    numbers = sorted({number for each in every for number in each.folds})
    rows: list[tuple[Cell, ...]] = []
    for each in every:
        printed = each.printed
        source = (
            Cell(printed.source, printed.source),
            *map(data, (printed.algorithm, printed.note, printed.reference)),
        )
        places = max(len(printed.printed.partition(".")[2]), 3)
        row = (
            data(summary.dataset),
            Cell(each.algo, each.algo),
            Cell(label(each.measure), each.measure),
            data(None),
            Cell("" if each.ours is None else f"{each.ours:.4f}", each.ours,
                 spread=spread(each.deviation)),
            data(each.deviation),
            Cell(printed.printed, printed.printed),
            _signed(each.difference, places),
            *_interval(each),
            *(Cell(_signed(each.differences.get(number)).text) for number in numbers),
        )  # fmt: skip
        rows.append((*row, *source))
        for number, (ours, theirs) in each.folds.items():
            head = (summary.dataset, each.algo, each.measure, number)
            own = (*head, ours, None, f"{theirs:.4f}", ours - theirs, *[None] * (2 + len(numbers)))
            rows.append((*map(data, own), *(data(cell.value) for cell in source)))
    if every:
        title = caption(summary) + FOLDS * bool(numbers)
    return Table(
        title,
        (
            Column(name="dataset"),
            Column("algorithm", "left", "algo"),
            Column("measure", "left", "measure"),
            Column(name="fold"),
            Column("ours", name="ours"),
            Column(name="sd"),
            Column("published", name="published"),
            Column("difference", name="difference"),
            Column("95 % interval" * bool(numbers), name="low"),
            Column(name="high"),
            *(Column(f"fold {number}") for number in numbers),
            Column("source", "left", "source"),
            *(Column(name=name) for name in ("algorithm_there", "note", "reference")),
        ),
        tuple(rows),
        notes=(*partial_note(summary.only([each.algo for each in every])), *_sources(every)),
        seeds=SEEDS if any(each.deviation is not None for each in every) else "",
    )


def with_published(panel: Panel, dataset: str, measure: str) -> Panel:
    """The panel with a line for every published method; NaN where a cut-off was not printed."""
    curves = {name: list(curve) for name, curve in panel.curves.items()}
    for k in range(1, 11):
        for row in lookup(dataset, f"{measure}@{k}"):
            name = f"{row.algorithm} ({row.source})"
            curves.setdefault(name, [math.nan] * 10)[k - 1] = row.value
    return replace(panel, curves=curves)


def _interval(each: Beside) -> tuple[Cell, Cell]:
    if each.interval is None:
        return data(None), data(None)
    low, high = each.interval
    text = f"[{low:+.4f}, {high:+.4f}]"
    return Cell(text, low, starred=low * high > 0.0), data(high)


def _signed(difference: float | None, places: int = 4) -> Cell:
    return Cell("" if difference is None else f"{difference:+.{places}f}", difference)


def _sources(every: Sequence[Beside]) -> tuple[str, ...]:
    """A line for each source: its short name and how one cites it."""
    sources = {each.printed.source: each.printed.reference for each in every}
    return tuple(f"{name}: {reference}" for name, reference in sources.items())
