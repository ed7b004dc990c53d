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

from letorbench.analysis.tables import Column, columns, table
from letorbench.conventions import Convention
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError, LetorError
from letorbench.files import read_file
from letorbench.measures.rankings import document_ids
from letorbench.results import paths
from letorbench.results.csv_files import algorithm_tables, summary_csv
from letorbench.results.dataset_results import DatasetResults, SystemResults, data_of
from letorbench.results.measuring import RANDOM
from letorbench.results.per_query import mean_of
from letorbench.results.store import Store, StoredFold
from letorbench.verify import FINE, IMPOSSIBLE, Verdict, plain

#: how far a stored number may be from the plain definition's: both round on the way
TOLERANCE = 1e-9
#: how many problems of a results folder are shown
MOST_PROBLEMS = 20
#: the time of writing and the content of each table
_Tables = dict[Path, tuple[int, bytes]]


@dataclass(frozen=True)
class Traced:
    """The origin of an algorithm's numbers, and the problems that a second look found."""

    dataset: str
    algo: str
    #: the folds, which know their convention and the digests of their data, code and scores
    folds: tuple[StoredFold, ...] = ()
    #: the number of per-query values that were measured again, and of those that were not: they
    #: have no plain definition, or too many orders of equal scores
    cells: int = 0
    unmeasured: int = 0
    #: a line for each number that does not agree
    problems: tuple[str, ...] = ()


def check_folder(out: Path, data_dir: Path) -> Verdict:
    """Measure a results folder again; the table has a row for each algorithm."""
    datasets = paths.present(out)
    if not datasets:
        raise DataError(f"{out}: found no finished fold, expected a results folder")
    traced = [each for dataset in datasets for each in trace(out, data_dir, dataset)]
    problems = [line for each in traced for line in each.problems]
    rows = []
    for each in traced:
        facts = [{**fold.fit["test"], **fold.identity} for fold in each.folds] or [{}]
        digests = " ".join(fold.fit["files"][paths.SCORES] for fold in each.folds)
        origin = [facts[0].get(name, "") for name in ("convention", "data", "code")]
        counts = each.cells, each.unmeasured, len(each.problems)
        rows.append((each.dataset, each.algo, *origin, *counts, digests, "\n".join(each.problems)))
    caption = (
        f"{out}: {sum(each.cells for each in traced)} numbers measured again by plain definitions, "
        f"{len(problems)} problems"
    )
    heads = (
        *columns(["data set", "algorithm", "convention"]),
        *(Column(name, "left", name, ".8") for name in ("data", "code")),
        *columns([], {"measured": "d", "not": "d", "problems": "d"}),
        *(Column(name=name) for name in ("scores", "lines")),
    )
    lines = list(dict.fromkeys(problems))  # all algorithms may lack the same data set
    more = len(lines) - MOST_PROBLEMS
    rest = [f"and {more} more (--format json has all)"] if more > 0 else []
    notes = (*lines[:MOST_PROBLEMS], *rest)
    return Verdict(IMPOSSIBLE if problems else FINE, table(caption, heads, rows, notes))


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
    frame = DatasetResults.of(store, dataset)
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
    row: SystemResults | None,
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
    """Yield a line for each wrong value, "" for a right one, None if it is not measured again."""
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
    """Yield a line for each query that is not in the data and each wrong mean, else ""."""
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
    """Yield a line for the first cell that differs from its folds, unless a fold is newer."""
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
