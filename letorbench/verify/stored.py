"""Results folders: every number measured again from the stored scores, by plain definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import zip_longest
from pathlib import Path

import numpy as np

from letorbench.conventions import convention
from letorbench.datasets.queryset import Benchmark, QuerySet
from letorbench.errors import LetorError
from letorbench.results import paths
from letorbench.results.measuring import RANDOM, data_of
from letorbench.results.store import Store, StoredFold, current_folds
from letorbench.results.summary import algorithm_tables, summarise, summary_csv
from letorbench.verify import plain

#: how far a stored number may be from the plain definition's: both round on the way
TOLERANCE = 1e-9


@dataclass(frozen=True)
class Traced:
    """Where the numbers of an algorithm come from, and what a second look found."""

    dataset: str
    algo: str
    convention: str = ""
    #: digests of the data and of the code that made the scores; "" for another system's scores
    data: str = ""
    code: str = ""
    #: the digest of each fold's scores
    scores: tuple[str, ...] = ()
    #: the per-query values that were measured again
    cells: int = 0
    #: those without a plain definition, or with too many orders of equal scores
    unmeasured: int = 0
    #: what does not agree, a line each
    problems: tuple[str, ...] = ()


def trace(out: Path, data_dir: Path, dataset: str) -> list[Traced]:
    """Check a data set's results: files, per-query values, and the tables made of them.

    Damaged folds and tables that differ from their folds are problems of the algorithm they
    belong to; summary.csv is one of the row with the name "summary".
    """
    store = Store(out).look(dataset)
    found = [_algorithm(store, data_dir, dataset, algo) for algo in paths.algorithms(out, dataset)]
    folder = paths.dataset_folder(out, dataset)
    problems = tuple(_differences(folder / paths.SUMMARY, summary_csv(summarise(store, dataset))))
    return [*found, Traced(dataset, "summary", problems=problems)]


def _algorithm(store: Store, data_dir: Path, dataset: str, algo: str) -> Traced:
    problems = [line for key, line in store.damaged.items() if key[:2] == (dataset, algo)]
    folds = current_folds(store.of(dataset, algo))
    if not folds:
        return Traced(dataset, algo, problems=tuple(problems))
    cells, unmeasured = 0, 0
    try:
        benchmark = data_of(data_dir, folds)
    except LetorError as error:
        problems.append(f"not measured again: {error}")
    else:
        for fold in folds:
            checked, skipped, wrong = _fold(fold, benchmark)
            cells, unmeasured = cells + checked, unmeasured + skipped
            problems += wrong
    folder = paths.algo_folder(store.out, dataset, algo)
    for name, text in algorithm_tables(folds).items():
        problems += _differences(folder / name, text)
    identity = folds[0].identity
    return Traced(
        dataset, algo, folds[0].convention, str(identity.get("data", "")),
        str(identity.get("code", "")),
        tuple(fold.fit["files"][paths.SCORES] for fold in folds),
        cells, unmeasured, tuple(problems),
    )  # fmt: skip


def by_query(fold: StoredFold, test: QuerySet) -> list[np.ndarray]:
    """Return the stored scores of each query of a fold's test part, (n_docs_of_query,) each."""
    return np.split(fold.scores(test.n_docs), test.offsets[1:-1])


def _fold(fold: StoredFold, benchmark: Benchmark) -> tuple[int, int, list[str]]:
    """Return how many values were measured again, how many were not, and what is wrong."""
    (test,) = (each.test for each in benchmark.folds if each.number == fold.number)
    rules = replace(convention(fold.convention), max_label=benchmark.convention.max_label)
    drawn = fold.key.algo == RANDOM
    rules = replace(rules, ties="mean") if drawn else rules
    stored = dict(zip(fold.queries.qids.tolist(), zip(*fold.queries.values.values())))
    cells, skipped, wrong = 0, 0, []
    labels = np.split(test.labels, test.offsets[1:-1])
    for qid, own, scores in zip(test.qids.tolist(), labels, by_query(fold, test)):
        listed = [0.0] * len(own) if drawn else scores.tolist()
        there = stored.pop(qid, (math.nan,) * len(fold.queries.values))
        for name, found in zip(fold.queries.values, there):
            expected = plain.value(name, own.tolist(), listed, rules)
            if expected is None:
                skipped += 1
                continue
            cells += 1
            left_out = math.isnan(expected) and math.isnan(found)
            if not (abs(expected - found) <= TOLERANCE or left_out):
                where = f"{fold.folder / paths.QUERIES}: query {qid}, {name}"
                wrong.append(f"{where}: found {found:.10g}, expected {expected:.10g}")
    wrong += [f"{fold.folder / paths.QUERIES}: found query {q}, not in the data" for q in stored]
    for name, values in fold.queries.values.items():
        if not abs(fold.means[name] - values.mean()) <= TOLERANCE:
            where = f"{fold.folder / paths.FIT}: the mean of {name}"
            wrong.append(f"{where}: found {fold.means[name]:.10g}, expected {values.mean():.10g}")
    return cells, skipped, wrong


def _differences(path: Path, expected: str) -> Iterator[str]:
    """Yield the first cell of a table that is not what its folds say."""
    try:
        found = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        yield f"{path}: {error.strerror}"
        return
    lines = zip_longest(found.split("\n"), expected.split("\n"), fillvalue="")
    for n, line in enumerate(lines, 1):
        for there, wanted in zip_longest(*(text.split(",") for text in line), fillvalue="nothing"):
            if there != wanted:
                yield f"{path}:{n}: found {there}, expected {wanted}, as its folds say"
                return
