"""Results folders: every number measured again from the stored scores, by plain definitions."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise
from pathlib import Path

from letorbench.conventions import convention
from letorbench.datasets.queryset import Benchmark
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
            checked, skipped, wrong = _fold(fold, benchmark, algo)
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


def _fold(fold: StoredFold, benchmark: Benchmark, algo: str) -> tuple[int, int, list[str]]:
    """Return how many values were measured again, how many were not, and what is wrong."""
    (test,) = (each.test for each in benchmark.folds if each.number == fold.number)
    rules = replace(convention(fold.convention), max_label=benchmark.convention.max_label)
    scores = fold.scores(test.n_docs).tolist()
    if algo == RANDOM:
        rules, scores = replace(rules, ties="mean"), [0.0] * test.n_docs
    names = list(fold.queries.values)
    rows = {
        qid: values
        for qid, *values in zip(fold.queries.qids.tolist(), *fold.queries.values.values())
    }
    cells, skipped, wrong = 0, 0, []
    for qid, (a, b) in zip(test.qids.tolist(), pairwise(test.offsets.tolist())):
        labels, own = test.labels[a:b].tolist(), scores[a:b]
        stored = rows.pop(qid, [math.nan] * len(names))
        for name, there in zip(names, stored):
            expected = plain.value(name, labels, own, rules)
            if expected is None:
                skipped += 1
                continue
            cells += 1
            same = abs(expected - there) <= TOLERANCE
            if not same and not (math.isnan(expected) and math.isnan(there)):
                where = f"{fold.folder / paths.QUERIES}: query {qid}, {name}"
                wrong.append(f"{where}: found {there:.10g}, expected {expected:.10g}")
    wrong += [f"{fold.folder / paths.QUERIES}: found query {qid}, not in the data" for qid in rows]
    for name, values in fold.queries.values.items():
        if not abs(fold.means[name] - values.mean()) <= TOLERANCE:
            where = f"{fold.folder / paths.FIT}: the mean of {name}"
            wrong.append(f"{where}: found {fold.means[name]:.10g}, expected {values.mean():.10g}")
    return cells, skipped, wrong


def _differences(path: Path, expected: str) -> Iterator[str]:
    """Yield the first line of a table that is not what its folds say."""
    try:
        found = path.read_bytes().decode("utf-8", "replace")
    except OSError as error:
        yield f"{path}: {error.strerror}"
        return
    if found == expected:
        return
    pairs = zip(found.splitlines() + [""], expected.splitlines() + [""])
    line, (there, wanted) = next(
        ((n, pair) for n, pair in enumerate(pairs, 1) if pair[0] != pair[1]), (1, ("", ""))
    )
    cells = zip(there.split(",") + [""], wanted.split(",") + [""])
    one, other = next((pair for pair in cells if pair[0] != pair[1]), ("its end", "another"))
    yield f"{path}:{line}: found {one}, expected {other}, as its folds say"
