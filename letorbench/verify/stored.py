"""Results folders: every number measured again from the stored scores, by plain definitions."""

from __future__ import annotations

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import LetorError
from letorbench.files import read_file
from letorbench.measures.rankings import document_ids
from letorbench.results import paths
from letorbench.results.csv_files import algorithm_tables, summary_csv
from letorbench.results.frame import Frame, Row, data_of
from letorbench.results.measuring import RANDOM
from letorbench.results.per_query import mean_of
from letorbench.results.store import Store, StoredFold
from letorbench.verify import plain

#: how far a stored number may be from the plain definition's: both round on the way
TOLERANCE = 1e-9
#: when each table was written, and what is in it
_Tables = dict[Path, tuple[int, bytes]]


@dataclass(frozen=True)
class Traced:
    """Where the numbers of an algorithm come from, and what a second look found."""

    dataset: str
    algo: str
    #: the folds, which know their convention and the digests of their data, code and scores
    folds: tuple[StoredFold, ...] = ()
    #: how many per-query values were measured again, and how many not: those without a plain
    #: definition, or with too many orders of equal scores
    cells: int = 0
    unmeasured: int = 0
    #: what does not agree, a line each
    problems: tuple[str, ...] = ()


def trace(out: Path, data_dir: Path, dataset: str) -> list[Traced]:
    """Check a data set's results: files, per-query values, and the tables made of them.

    Damaged folds and tables that differ from their folds are problems of the algorithm they
    belong to; summary.csv is one of the row with the name "summary". A run that goes on, or was
    stopped, has not written its tables since its last fold, which is no problem.
    """
    folder = paths.dataset_folder(out, dataset)
    # tables first: one that is newer than the folds seen below would seem wrong
    tables: _Tables = {}
    for path in (*folder.glob("*.csv"), *folder.glob("*/*.csv")):
        with suppress(OSError):
            tables[path] = path.stat().st_mtime_ns, read_file(path)
    store = Store(out).look(dataset)
    frame = Frame.of(store, dataset)
    damaged: dict[str, list[str]] = {}
    for fold, line in store.damaged.items():
        damaged.setdefault(paths.folder_of_fold(fold).name, []).append(line)
    rows = {row.algo: row for row in frame.rows}
    found = [
        _algorithm(dataset, algo, rows.get(algo), damaged.get(algo, []), data_dir, tables)
        for algo in sorted({*rows, *damaged})
    ]
    stored = [fold for row in frame.rows for fold in row.stored]
    problems = tuple(_differences(folder / paths.SUMMARY, summary_csv(frame), stored, tables))
    return [*found, Traced(dataset, "summary", problems=problems)]


def _algorithm(
    dataset: str,
    algo: str,
    row: Row | None,
    damaged: list[str],
    data_dir: Path,
    tables: _Tables,
) -> Traced:
    folds, problems = row.stored if row else (), list(damaged)
    looked: list[str | None] = []
    if row:
        try:
            benchmark = data_of(data_dir, folds)
        except LetorError as error:
            problems.append(f"not measured again: {error}")
        else:
            tests = {fold.number: fold.test for fold in benchmark.folds}
            for fold in folds:
                try:
                    values = list(_values(fold, tests[fold.number], benchmark.convention))
                except LetorError as error:
                    problems.append(f"not measured again: {error}")
                    continue
                looked += values
                problems += filter(None, [*values, *_rest(fold, tests[fold.number].qids)])
        for name, text in algorithm_tables(row).items():
            path = paths.folder_of_fold(folds[0].folder) / name
            problems += _differences(path, text, folds, tables)
    unmeasured = looked.count(None)
    return Traced(dataset, algo, folds, len(looked) - unmeasured, unmeasured, tuple(problems))


def by_query(fold: StoredFold, test: QuerySet) -> list[np.ndarray]:
    """Return the stored scores of each query of a fold's test part, (n_docs_of_query,) each."""
    return np.split(fold.scores(test.n_docs), test.offsets[1:-1])


def _values(fold: StoredFold, test: QuerySet, rules: Convention) -> Iterator[str | None]:
    """Yield what is wrong with each value: "" for nothing, None where it is not measured again."""
    rules = replace(rules, ties="mean") if fold.identity["algo"] == RANDOM else rules
    stored = dict(zip(fold.queries.qids.tolist(), zip(*fold.queries.values.values())))
    labels = np.split(test.labels, test.offsets[1:-1])
    names = np.split(document_ids(test.docids, test.offsets), test.offsets[1:-1])
    for qid, own, scores, docids in zip(test.qids.tolist(), labels, by_query(fold, test), names):
        there = stored.get(qid, (math.nan,) * len(fold.queries.values))
        for name, found in zip(fold.queries.values, there):
            expected = plain.value(name, own.tolist(), scores.tolist(), rules, docids.tolist())
            where = f"{fold.folder / paths.QUERIES}: query {qid}, {name}"
            yield None if expected is None else _differs(where, found, expected)


def _rest(fold: StoredFold, qids: np.ndarray) -> Iterator[str]:
    """Yield the queries that are not in the data, and what is wrong with each mean, or ""."""
    for qid in np.setdiff1d(fold.queries.qids, qids):
        yield f"{fold.folder / paths.QUERIES}: found query {qid}, not in the data"
    for name, values in fold.queries.in_means.values.items():
        where = f"{fold.folder / paths.FIT}: the mean of {name}"
        mean = float(mean_of(values))
        yield _differs(where, fold.means[name], mean)


def _differs(where: str, found: float, expected: float) -> str:
    """Return a line that says so where two numbers do not agree, "" where they do."""
    agree = abs(expected - found) <= TOLERANCE or (math.isnan(expected) and math.isnan(found))
    return "" if agree else f"{where}: found {found:.10g}, expected {expected:.10g}"


def _differences(
    path: Path, expected: str, folds: Sequence[StoredFold], tables: _Tables
) -> Iterator[str]:
    """Yield the first cell of a table that is not what its folds say, unless one is newer."""
    if path not in tables and os.path.lexists(path):
        yield f"{path}: found no readable table, expected a regular file"
        return
    written, content = tables.get(path, (0, b""))
    if any((fold.folder / paths.FIT).stat().st_mtime_ns > written for fold in folds):
        return
    found = content.decode("utf-8", "replace")
    lines = zip_longest(found.split("\n"), expected.split("\n"), fillvalue="")
    for n, line in enumerate(lines, 1):
        for there, wanted in zip_longest(*(text.split(",") for text in line), fillvalue=""):
            if there != wanted:
                there, wanted = there or "nothing", wanted or "nothing"
                yield f"{path}:{n}: found {there}, expected {wanted}, as its folds say"
                return
