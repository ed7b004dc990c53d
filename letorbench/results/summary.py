"""What a results folder holds, as tables of numbers: a row per algorithm, a column per measure.

The folders of the finished folds are what is read, so that a result is shown as soon as a fold
of it is finished. The CSV files beside them are copies for people and other programs. Each is
written only where it is missing or says something else than the folds do.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from letorbench import escaping
from letorbench.errors import DataError
from letorbench.files import one_writer, write_atomically
from letorbench.results import paths
from letorbench.results.labels import Label
from letorbench.results.per_query import PerQuery, mean_of
from letorbench.results.store import (
    Store,
    StoredFold,
    by_repeat,
    current_folds,
    joined_queries,
)
from letorbench.source import scoring_digest

#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds", "repeats", "cut_off")


@dataclass(frozen=True)
class Row:
    """One algorithm on one data set."""

    algo: str
    #: the convention that it was measured by
    convention: str
    #: how many of its folds are finished
    folds: int
    #: the mean of the folds' means, by measure; its mean over the repeats where there are any
    values: dict[str, float]
    #: how many folds the data set has
    n_folds: int | None = None
    #: how many of the finished folds have trainings that a time limit ended
    cut_off: int = 0
    #: the mean of the folds' means of each repeat, by measure; empty where nothing is drawn
    repeated: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    #: how many seeds were asked for; None where nothing is drawn
    n_repeats: int | None = None
    #: the transformation of the features; None where another system made the scores
    features: str | None = None
    #: the letorbench and the digest of its code that made the scores, where they are other ones
    #: than now; "" where they are not
    version: str = ""
    #: its finished folds, which all this comes from
    stored: tuple[StoredFold, ...] = field(default=(), repr=False, compare=False)
    #: the queries' values, if measures were computed that the folds do not hold
    measured: PerQuery | None = field(default=None, repr=False, compare=False)

    @property
    def label(self) -> Label:
        """What made its numbers."""
        return self.stored[0].label if self.stored else Label(self.algo)

    @property
    def partial(self) -> str:
        """What is missing, not run or not finished yet: "3 of 5 folds"; "" for nothing."""
        if self.folds < (self.n_folds or 0):
            return f"{self.folds} of {self.n_folds} folds"
        if self.repeats < (self.n_repeats or 1):
            return f"{self.repeats} of {self.n_repeats} repeats"
        return ""

    @property
    def repeats(self) -> int:
        """How many repeats have all these folds."""
        return max((len(values) for values in self.repeated.values()), default=1)

    @cached_property
    def queries(self) -> PerQuery:
        """The test queries' values; DataError if a file of them is damaged."""
        return joined_queries(self.stored) if self.measured is None else self.measured

    @property
    def fits(self) -> dict[int, Mapping[str, Any]]:
        """The fit.json of each fold of the first repeat, by the fold's number."""
        return {fold.number: fold.fit for fold in by_repeat(self.stored)[0]}

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
        repeats = mean_of(_means(by_repeat(folds)), axis=1)
        asked = max(folds, key=lambda fold: fold.written).repeats
        drawn = len(repeats) > 1 or asked is not None
        return cls(
            algo,
            folds[0].convention,
            len(folds) // len(repeats),
            dict(zip(names, mean_of(repeats, axis=0).tolist())),
            folds[0].n_folds,
            sum(fold.cut_off for fold in folds),
            dict(zip(names, zip(*repeats.tolist()))) if drawn else {},
            asked,
            folds[0].identity.get("features"),
            _other_version(folds[0].identity),
            tuple(folds),
        )


def _other_version(identity: Mapping[str, Any]) -> str:
    """Return what code made a fold, "" for the code of now and for another system's scores."""
    code = identity.get("code")
    if code is None or code == scoring_digest(str(identity.get("module"))):
        return ""
    return f"letorbench {identity.get('letorbench')}, code {str(code)[:8]}"


@dataclass(frozen=True)
class Summary:
    """All the algorithms of one data set, in the order of their names."""

    dataset: str
    rows: tuple[Row, ...]
    #: a line for each finished fold that is left out because a file of it is damaged
    damaged: tuple[str, ...] = ()
    #: a line for each algorithm whose scores could not be measured by what was asked for
    unmeasured: tuple[str, ...] = ()

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
        """A line for each algorithm that is not finished: `listnet: 3 of 5 folds`."""
        return tuple(f"{row.algo}: {row.partial}" for row in self.rows if row.partial)

    def only(self, algos: Sequence[str]) -> Summary:
        """Return the summary with these algorithms alone."""
        return replace(self, rows=tuple(row for row in self.rows if row.algo in algos))

    def records(self, measures: Sequence[str]) -> list[dict[str, object]]:
        """Return what programs read of each row: what it is of, the measures, their deviations."""
        drawn = [name for name in measures if name in self.drawn]
        return [
            {
                "dataset": self.dataset,
                "algo": row.algo,
                "convention": row.convention,
                "features": row.features,
                "folds": row.folds,
                "n_folds": row.n_folds,
                "repeats": row.repeats,
                "partial": bool(row.partial),
                "cut_off": row.cut_off,
                **{name: row.values.get(name) for name in measures},
                **{deviation_column(name): row.deviation(name) for name in drawn},
            }
            for row in self.rows
        ]


def deviation_column(measure: str) -> str:
    """Return the name of the column with a measure's standard deviation over seeds."""
    return f"{measure}-sd"


def read_summary(out: Path, dataset: str) -> Summary:
    """Summarise the finished folds of a data set, also of a run that goes on or was stopped.

    The CSV files are brought up to date if the folder can be written. DataError says that there
    is no finished fold.
    """
    store = Store(out).look(dataset)
    if store.folds:
        with suppress(OSError):
            write_tables(store, dataset, store.algorithms(dataset))
    summary = summarise(store, dataset)
    if not (summary.rows or summary.damaged):
        have = paths.present(out)
        there = f"results there: {', '.join(have)}" if have else "no results there"
        raise DataError(
            f"{paths.dataset_folder(out, dataset)}: found no finished fold ({there}); "
            f"`letorbench run --dataset {dataset}` makes them"
        )
    return summary


def summarise(store: Store, dataset: str) -> Summary:
    """Return the rows of a data set's algorithms as the store knows them."""
    folds = {algo: current_folds(store.of(dataset, algo)) for algo in store.algorithms(dataset)}
    damaged = [line for key, line in store.damaged.items() if key.dataset == dataset]
    rows = [Row.of(algo, current) for algo, current in folds.items()]
    return Summary(dataset, tuple(rows), tuple(damaged))


def write_tables(store: Store, dataset: str, algos: Iterable[str]) -> None:
    """Write the CSV files of algorithms and of their data set.

    Another run may have finished folds of the data set meanwhile: the store looks at them first.
    """
    folder = paths.dataset_folder(store.out, dataset)
    if not paths.finished(store.out, dataset):
        return
    with one_writer(folder):
        store.look(dataset)
        for algo in algos:
            folds = current_folds(store.of(dataset, algo))
            if folds:
                _write_algorithm(paths.folder_of_fold(folds[0].folder), folds)
        summary = summarise(store, dataset)
        _write_if_other(folder / paths.SUMMARY, summary_csv(summary))


def summary_csv(summary: Summary) -> str:
    """Return the lines of a data set's summary.csv."""
    names = [*HEAD, *summary.measures, *map(deviation_column, summary.drawn)]
    lines = [[record[name] for name in names] for record in summary.records(summary.measures)]
    return escaping.csv_table([names, *lines])


def _write_algorithm(folder: Path, folds: Sequence[StoredFold]) -> None:
    """Write an algorithm's tables. Who finds folds.csv finds the others up to date."""
    tables = algorithm_tables(folds)
    if paths.REPEATS not in tables:
        (folder / paths.REPEATS).unlink(missing_ok=True)
    for name, text in tables.items():
        _write_if_other(folder / name, text)


def algorithm_tables(folds: Sequence[StoredFold]) -> dict[str, str]:
    """Return the text of an algorithm's CSV files by their names, folds.csv last.

    per_query.csv has the rows of the folds' own files, with the number of the fold before each.
    folds.csv has the means of each fold and, in its last row, the mean of these means. If there
    are repeats both have the means over them, and repeats.csv has the mean of the folds' means of
    each, their mean and their standard deviation.
    """
    queries, repeats = joined_queries(folds), by_repeat(folds)
    columns = [queries.folds, queries.qids, *queries.values.values()]
    rows = zip(*(column.tolist() for column in columns))
    tables = {paths.QUERIES: escaping.csv_table([["fold", "qid", *queries.values], *rows])}
    means = _means(repeats)

    def text(head: str, labels: Iterable[object], values: np.ndarray) -> str:
        lines = [[label, *row] for label, row in zip(labels, values.tolist())]
        return escaping.csv_table([[head, *folds[0].means], *lines])

    if len(repeats) > 1:
        each = mean_of(means, axis=1)
        numbers = [repeat[0].repeat for repeat in repeats]
        table = np.vstack([each, each.mean(axis=0), each.std(axis=0, ddof=1)])
        tables[paths.REPEATS] = text("repeat", [*numbers, "mean", "sd"], table)
    table = np.vstack([mean_of(means, axis=0), mean_of(means, axis=(0, 1))])
    tables[paths.FOLDS] = text("fold", [*(fold.number for fold in repeats[0]), "mean"], table)
    return tables


def _means(repeats: Sequence[Sequence[StoredFold]]) -> np.ndarray:
    """Return the means of each fold, (n_repeats, n_folds, n_measures)."""
    names = list(repeats[0][0].means)
    return np.array([[[fold.means[name] for name in names] for fold in each] for each in repeats])


def _write_if_other(path: Path, text: str) -> None:
    """Write the file unless it has this content."""
    if not path.is_file() or path.read_bytes() != text.encode():
        with write_atomically(path) as file:
            file.write(text)


def rows_meant(summaries: Iterable[Summary], word: str) -> list[str]:
    """Return the rows that a user means: the one of that name, else those of that algorithm."""
    rows = {row.algo: row.label for summary in summaries for row in summary.rows}
    if word in rows:
        return [word]
    return sorted(name for name, label in rows.items() if label.algo == word)


def read_per_query(out: Path, dataset: str, algo: str) -> PerQuery:
    """Read the values of an algorithm's test queries; DataError if no fold of it is finished."""
    return require_row(out, dataset, algo).queries


def require_row(out: Path, dataset: str, algo: str) -> Row:
    """Read a row's last experiment, by its name or its algorithm's if that has no other.

    DataError if no fold of it is finished.
    """
    store = Store(out).look(dataset)
    [name] = rows_meant([summarise(store, dataset)], algo)[:1] or [algo]
    folds = current_folds(store.of(dataset, name))
    if not folds:
        raise DataError(
            next(iter(store.damaged.values()), "")
            or f"{paths.algo_folder(out, dataset, algo)}: found no finished fold; "
            f"`letorbench run --dataset {dataset} --algo {algo}` makes them"
        )
    return Row.of(name, folds)
