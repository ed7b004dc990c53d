"""What a results folder holds, as tables of numbers: a row per algorithm, a column per measure.

The folders of the finished folds are what is read. The CSV files beside them are copies for
people and other programs (see `derived_tables`), so that a result is shown as soon as a fold of
it is finished.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.errors import DataError, UsageError
from letorbench.files import one_writer
from letorbench.results import paths
from letorbench.results.derived_tables import write_algorithm_tables, write_summary_table
from letorbench.results.per_query import PerQuery
from letorbench.results.stored_folds import (
    StoredFold,
    by_repeat,
    current_folds,
    joined_queries,
    read_folds,
    sound_and_damaged,
)
from letorbench.source import scoring_digest

#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds", "repeats", "cut_off")


@dataclass(frozen=True)
class Row:
    """One algorithm on one data set.

    Attributes
    ----------
    algo : str
        The name of the algorithm.
    convention : str
        The convention that it was measured by.
    folds : int
        How many of its folds are finished.
    values : dict of str to float
        The mean of the folds' means, by measure; its mean over the repeats where there are any.
    n_folds : int, optional
        How many folds the data set has.
    cut_off : int
        How many of the finished folds have trainings that a time limit ended.
    repeated : mapping of str to tuple of float
        The mean of the folds' means of each repeat, by measure; empty where nothing is drawn.
    n_repeats : int, optional
        How many seeds were asked for; None where nothing is drawn.
    features : str, optional
        The transformation of the features; None where another system made the scores.
    version : str
        The letorbench and the digest of its code that made the scores, where they are other ones
        than now; "" where they are not.
    """

    algo: str
    convention: str
    folds: int
    values: dict[str, float]
    n_folds: int | None = None
    cut_off: int = 0
    repeated: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    n_repeats: int | None = None
    features: str | None = None
    version: str = ""

    @property
    def partial(self) -> bool:
        """Whether folds or repeats are missing: not run, or not finished yet."""
        return self.lacks_folds or self.repeats < (self.n_repeats or 1)

    @property
    def lacks_folds(self) -> bool:
        """Whether folds of the data set are missing."""
        return self.n_folds is not None and self.folds < self.n_folds

    @property
    def repeats(self) -> int:
        """How many repeats have all these folds."""
        return max((len(values) for values in self.repeated.values()), default=1)

    def means(self, measure: str) -> tuple[float, ...]:
        """Return the mean of the folds' means of each repeat: of one where nothing is drawn."""
        return self.repeated.get(measure, (self.values[measure],))

    def deviation(self, measure: str) -> float | None:
        """Return a measure's standard deviation over the seeds.

        It is None where nothing is drawn, and where there is one seed: it is not known then.
        """
        values = self.repeated.get(measure, ())
        return float(np.std(values, ddof=1)) if len(values) > 1 else None

    @classmethod
    def of(cls, algo: str, folds: Sequence[StoredFold]) -> Row:
        """Return the row of an algorithm with these finished folds of one or more repeats."""
        names = list(folds[0].means)
        repeats = [
            np.mean([[fold.means[name] for name in names] for fold in each], axis=0).tolist()
            for each in by_repeat(folds)
        ]
        asked = max(folds, key=lambda fold: fold.written).repeats
        drawn = len(repeats) > 1 or asked is not None
        return cls(
            algo,
            folds[0].convention,
            len(folds) // len(repeats),
            dict(zip(names, np.mean(repeats, axis=0).tolist())),
            folds[0].n_folds,
            sum(fold.cut_off for fold in folds),
            dict(zip(names, zip(*repeats))) if drawn else {},
            asked,
            folds[0].identity.get("features"),
            _other_version(folds[0].identity),
        )


def _other_version(identity: Mapping[str, Any]) -> str:
    """Return what code made a fold, "" for the code of now and for another system's scores."""
    code = identity.get("code")
    if code is None or code == scoring_digest(str(identity.get("module"))):
        return ""
    return f"letorbench {identity.get('letorbench')}, code {str(code)[:8]}"


@dataclass(frozen=True)
class Summary:
    """All the algorithms of one data set, in the order of their names.

    Attributes
    ----------
    dataset : str
        The name of the data set.
    rows : tuple of Row
        The algorithms.
    damaged : tuple of str
        A line for each finished fold that is left out because a file of it is damaged.
    relative : bool
        Whether the numbers are shares of the way from random to ideal, see
        `letorbench.results.reference_points`.
    """

    dataset: str
    rows: tuple[Row, ...]
    damaged: tuple[str, ...] = ()
    relative: bool = False

    @property
    def conventions(self) -> tuple[str, ...]:
        """The conventions of the rows, each once."""
        return tuple(dict.fromkeys(row.convention for row in self.rows))

    @property
    def mixed(self) -> bool:
        """Whether the algorithms were measured by several conventions: they do not compare."""
        return len(self.conventions) > 1

    @property
    def measures(self) -> tuple[str, ...]:
        """Every measure that a row has, in the order of the first row that has it."""
        return tuple(dict.fromkeys(name for row in self.rows for name in row.values))

    @property
    def drawn(self) -> tuple[str, ...]:
        """The measures whose standard deviation over seeds is known of some row."""
        rows = self.rows
        return tuple(
            name for name in self.measures if any(row.deviation(name) is not None for row in rows)
        )

    @property
    def partial(self) -> tuple[str, ...]:
        """A line for each algorithm that is not finished: `listnet: folds 3 of 5`."""
        return tuple(
            f"{row.algo}: folds {row.folds} of {row.n_folds}"
            if row.lacks_folds
            else f"{row.algo}: repeats {row.repeats} of {row.n_repeats}"
            for row in self.rows
            if row.partial
        )

    def only(self, algos: Sequence[str]) -> Summary:
        """Return the summary with these algorithms alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.algo in algos))

    def with_row(self, row: Row) -> Summary:
        """Return the summary with this row in place of the algorithm's old one."""
        rows = {each.algo: each for each in (*self.rows, row)}
        return replace(self, rows=tuple(rows[algo] for algo in sorted(rows)))


def deviation_column(measure: str) -> str:
    """Return the name of the column with a measure's standard deviation over seeds."""
    return f"{measure}-sd"


def stored_summary(out: Path, dataset: str) -> Summary:
    """Summarise the finished folds of a data set; without rows where there are none."""
    found, damaged = _current(out, dataset)
    rows = tuple(Row.of(algo, folds) for algo, folds in found.items())
    return Summary(dataset, rows, tuple(damaged))


def read_summary(out: Path, dataset: str) -> Summary:
    """Summarise the finished folds of a data set, also of a run that goes on or was stopped.

    The CSV files are brought up to date where the folder can be written.

    Raises
    ------
    DataError
        There are no finished folds without damage.
    """
    summary = refreshed_summary(out, dataset)
    if not summary.rows:
        if summary.damaged:
            raise DataError(summary.damaged[0])
        have = paths.present(out)
        there = f"results there: {', '.join(have)}" if have else "no results there"
        raise DataError(
            f"{paths.dataset_folder(out, dataset)}: found no finished fold ({there}); "
            f"`letorbench run --dataset {dataset}` makes them"
        )
    return summary


def refreshed_summary(out: Path, dataset: str) -> Summary:
    """Return `stored_summary`; bring the CSV files up to date where the folder can be written."""
    found, damaged = _current(out, dataset)
    rows = tuple(Row.of(algo, folds) for algo, folds in found.items())
    summary = Summary(dataset, rows, tuple(damaged))
    if rows:
        with suppress(OSError), one_writer(paths.dataset_folder(out, dataset)):
            for algo, folds in found.items():
                write_algorithm_tables(paths.algo_folder(out, dataset, algo), folds)
            write_summary(out, summary)
    return summary


def _current(out: Path, dataset: str) -> tuple[dict[str, list[StoredFold]], list[str]]:
    """Return the folds that count, by algorithm, and a line for each damaged one."""
    found, damaged = {}, []
    for algo in paths.algorithms(out, dataset):
        folds, lines = sound_and_damaged(out, dataset, algo)
        damaged += lines
        if folds:
            found[algo] = current_folds(folds)
    return found, damaged


def update_row(out: Path, summary: Summary, algo: str) -> Summary:
    """Write the tables that a newly finished fold of an algorithm changes.

    Returns
    -------
    Summary
        The summary with the algorithm's new row, or unchanged where no fold is finished.
    """
    folds = current_folds(read_folds(out, summary.dataset, algo))
    if not folds:
        return summary
    summary = summary.with_row(Row.of(algo, folds))
    with one_writer(paths.dataset_folder(out, summary.dataset)):
        with suppress(FileNotFoundError):  # another run is at work on the fold
            write_algorithm_tables(paths.algo_folder(out, summary.dataset, algo), folds)
        write_summary(out, summary)
    return summary


def write_summary(out: Path, summary: Summary) -> None:
    """Write the summary.csv of a data set where it is missing or says something else."""
    names, drawn = summary.measures, summary.drawn
    lines = [
        [
            *(row.algo, row.convention, row.folds, row.repeats, row.cut_off),
            *(row.values.get(name) for name in names),
            *(row.deviation(name) for name in drawn),
        ]
        for row in summary.rows
    ]
    folder = paths.dataset_folder(out, summary.dataset)
    write_summary_table(folder, [*HEAD, *names, *map(deviation_column, drawn)], lines)


def read_per_query(out: Path, dataset: str, algo: str) -> PerQuery:
    """Read the values of an algorithm's test queries, of all its finished folds.

    Raises
    ------
    DataError
        There is no finished fold, or a file is damaged.
    """
    return joined_queries(require_folds(out, dataset, algo))


def require_folds(out: Path, dataset: str, algo: str) -> list[StoredFold]:
    """Return the finished folds of an algorithm's last experiment; DataError if none is."""
    found, damaged = sound_and_damaged(out, dataset, algo)
    folds = current_folds(found)
    if not folds:
        raise DataError(
            damaged[0]
            if damaged
            else f"{paths.algo_folder(out, dataset, algo)}: found no finished fold; "
            f"`letorbench run --dataset {dataset} --algo {algo}` makes them"
        )
    return folds


def stored_reading(out: Path, dataset: str) -> tuple[str, str | float]:
    """Return the convention of a data set's stored results and how they read NULL.

    Without results that is "auto" and "error".
    """
    for algo in paths.algorithms(out, dataset):
        for fold in read_folds(out, dataset, algo):
            return fold.convention, fold.identity.get("null", "error")
    return "auto", "error"


def curve(row: Row, measure: str) -> tuple[float, ...]:
    """Return the values of measure@1, measure@2, ... up to the first gap, at most 10.

    Raises
    ------
    UsageError
        The row has no such measure.
    """
    values: list[float] = []
    while len(values) < 10 and f"{measure}@{len(values) + 1}" in row.values:
        values.append(row.values[f"{measure}@{len(values) + 1}"])
    if not values:
        known = ", ".join(sorted({n.split("@")[0] for n in row.values if "@" in n}))
        raise UsageError(
            f"no column {measure}@1 among the results of {row.algo}; expected one of {known}"
        )
    return tuple(values)
