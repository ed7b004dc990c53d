"""Results that papers and sites print, next to ours: the difference, by fold where possible.

`published.csv` has one mean per row, `published_by_fold.csv` the folds that some sources print too,
and `sources.csv` the sources. Rows name data sets and algorithms as their source does; this module
maps these names to ours.
"""

import csv
import math
import re
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import numpy as np

from letorbench.analysis import tables
from letorbench.analysis.figures import Panel
from letorbench.analysis.results_table import caption, label, partial_note
from letorbench.analysis.tables import Cell, Column, Table, Value, table
from letorbench.datasets.catalog import CATALOG, normalized, parse
from letorbench.rankers import places
from letorbench.results.dataset_results import DatasetResults, SystemResults

#: the note on our numbers next to those of single runs
SEEDS = "ours: mean ± standard deviation over seeds; published: as printed, of single runs"
#: the note on numbers that are published by fold
FOLDS = "; differences by fold, and the interval of their mean by Student's t, * = 0 is outside"

#: printed names of data sets that differ from the catalog's in more than case and punctuation.
#: MSLR-WEB30K-Fold1 is not here: the numbers of one fold are not the data set's.
DATASETS = {printed: entry.name for entry in CATALOG.values() for printed in entry.published_as}

#: printed names that differ from ours in more than case and punctuation -> our ranker of the same
#: method. Not here: lgrz's "GBDT (XGBoost)" is multiple classification, jforests and QuickRank are
#: other programs, and MQ2007's plain "AdaRank" does not say what it boosts on.
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
    #: as the source names them
    dataset: str
    algorithm: str
    #: in our spelling (`ndcg@10`, `map`)
    measure: str
    #: the number, and as printed ("0.320")
    value: float
    printed: str
    #: such as another convention
    note: str
    reference: str
    #: from "train", "validation" and "test" to the numbers of the folds 1, 2, ..., if printed
    folds: Mapping[str, tuple[float, ...]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        return f"{self.algorithm} ({self.source})"

    @property
    def ours(self) -> str | None:
        """The name of our ranker of that method, or None."""

        def letters(name: str) -> str:
            return re.sub("[^a-z0-9]", "", name.lower())

        known = {letters(name): name for name in places()}
        return ALIASES.get(self.algorithm) or known.get(letters(self.algorithm))

    @property
    def algo(self) -> str:
        """The name of the method in tables: ours, or that of the source."""
        return self.ours or self.algorithm


@cache
def published() -> tuple[Published, ...]:
    """Every printed number, in the file's order."""
    references = {row["source"]: row["reference"] for row in _rows("sources.csv")}
    folds = defaultdict[tuple[str, ...], dict[str, tuple[float, ...]]](dict)
    for row in _rows("published_by_fold.csv"):
        folds[_key(row)][row["part"]] = tuple(float(row[str(k)]) for k in range(1, 6))
    return tuple(
        Published(*_key(row), float(row["value"]), row["value"], row["note"],
                  references[row["source"]], folds.get(_key(row), {}))
        for row in _rows("published.csv")
    )  # fmt: skip


def lookup(dataset: str, measure: str) -> tuple[Published, ...]:
    """The numbers printed for a data set and a measure; none for variants and twins."""
    name, measure = normalized(parse(dataset).label), measure.strip().lower()
    return tuple(
        row
        for row in published()
        if row.measure == measure and normalized(DATASETS.get(row.dataset, row.dataset)) == name
    )


def _key(row: Mapping[str, str]) -> tuple[str, str, str, str]:
    measure = row["metric"].lower() + (f"@{row['cutoff']}" if row["cutoff"] else "")
    return row["source"], row["dataset"], row["algorithm"], measure


def _rows(name: str) -> Iterator[dict[str, str]]:
    with Path(__file__).with_name(name).open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _interval(differences: Sequence[float]) -> tuple[Cell | None, float | None]:
    """The 95 % interval of the folds' mean difference, and its upper end, of two folds or more."""
    from scipy import stats

    if len(differences) < 2:
        return None, None
    mean, error = np.mean(differences), stats.sem(differences)
    low, high = map(float, stats.t.interval(0.95, len(differences) - 1, mean, error))
    return replace(tables.interval_cells(low, high)[0], starred=low * high > 0.0), high


def published_table(frame: DatasetResults, measures: Sequence[str]) -> Table:
    """The published numbers next to ours, our algorithms first, with a note for each source."""
    # each label of an algorithm is compared with the numbers of the algorithm
    order = {row.algo: i for i, row in enumerate(frame.rows)}
    none: list[SystemResults | None] = [None]
    every = [
        (row.algo if row else each.algo, each, row, _by_fold(each, row))
        for measure in measures
        for each in lookup(frame.dataset, measure)
        for row in [row for row in frame.rows if row.label.algo == each.algo] or none
    ]
    every.sort(key=lambda shown: (order.get(shown[0], len(order)), shown[0]))
    numbers = sorted({number for *_, folds in every for number in folds})
    deviations: list[float | None] = []
    rows: list[list[Cell | Value]] = []
    for name, each, row, folds in every:
        value = row.values.get(each.measure) if row else None
        deviations.append(row.deviation(each.measure) if row else None)
        places = max(len(each.printed.partition(".")[2]), 3)
        cell, difference = Cell(""), Cell("")
        if value is not None:
            cell = tables.mean_cell(value, deviations[-1])
            difference = tables.mean_cell(value - each.value, form=f"+.{places}f")
        differences = {number: a - b for number, (a, b) in folds.items()}
        source = (each.source, each.algorithm, each.note, each.reference)
        rows.append([
            frame.dataset, name, Cell(label(each.measure), each.measure), None, cell,
            deviations[-1], each.printed, difference, *_interval(list(differences.values())),
            *map(differences.get, numbers), *source,
        ])  # fmt: skip
        for number, (value, theirs) in folds.items():  # a row for programs alone
            nothing = [None] * (2 + len(numbers))
            of_fold = number, value, None, f"{theirs:.4f}", value - theirs, *nothing
            values = frame.dataset, name, each.measure, *of_fold, *source
            rows.append([Cell("", each) for each in values])
    known = frame.only(name for name, *_ in every)
    sources = {each.source: f"{each.source}: {each.reference}" for _, each, *_ in every}
    title = f"{frame.dataset}: nothing is published at {', '.join(map(label, measures))}"
    made = table(
        caption(frame) + FOLDS * bool(numbers) if every else title,
        (
            tables.DATASET, tables.ALGORITHM, Column("measure", "left", "measure"),
            *tables.for_programs("fold"), Column("ours", name="ours"), *tables.for_programs("sd"),
            *tables.columns([], {"published": "", "difference": ""}),
            Column("95 % interval" * bool(numbers), name="low"), *tables.for_programs("high"),
            *(Column(f"fold {number}", form="+.4f") for number in numbers),
            Column("source", "left", "source"),
            *tables.for_programs("algorithm_there", "note", "reference"),
        ),
        rows,
        (*partial_note(known), *sources.values()),
    )  # fmt: skip
    return replace(made, seeds=SEEDS if any(each is not None for each in deviations) else "")


def _by_fold(printed: Published, row: SystemResults | None) -> dict[int, tuple[float, float]]:
    """Ours and the published number of each fold that has both, by the fold's number."""
    theirs = dict(enumerate(printed.folds.get("test", ()), 1))
    ours = row.queries.fold_means(printed.measure) if row and theirs else {}
    return {number: (ours[number], theirs[number]) for number in ours if number in theirs}


def with_published(panel: Panel, dataset: str, measures: Sequence[str]) -> Panel:
    """The panel with a line for each published method, NaN at cut-offs that are not printed."""
    curves = {name: list(curve) for name, curve in panel.curves.items()}
    for k, measure in enumerate(measures):
        for row in lookup(dataset, measure):
            curves.setdefault(row.name, [math.nan] * len(measures))[k] = row.value
    printed = [name for name in curves if name not in panel.curves]
    return replace(panel, curves=curves, users=(*panel.users, *printed))
