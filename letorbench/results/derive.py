"""From stored scores to measures: a new measure needs no new run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import Benchmark
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.settings import Settings
from letorbench.measures import default_measures, query_metrics
from letorbench.results import store
from letorbench.results.scores import read_scores


def measure(
    dataset: str, algo: str, settings: Settings, protocol: Protocol, benchmark: Benchmark
) -> str | None:
    """Write per_query.csv and folds.csv of an algorithm; what the user must know of them.

    Every fold whose stored scores belong to the same data, settings and protocol takes part,
    also one of an earlier run; folds made in another way are left out and named.
    """
    numbers: list[int] = []
    others: list[int] = []
    for fold in benchmark.folds:
        task = Task(dataset, algo, fold.number, settings)
        folder = store.fold_folder(protocol.out, task)
        if store.is_done(folder, store.identity(task, protocol, benchmark)):
            numbers.append(fold.number)
        else:
            others += [fold.number] if store.stored(folder) else []
    folder = store.algo_folder(protocol.out, dataset, algo)
    if numbers:
        write_values(folder, numbers, benchmark)
    if not others:
        return None
    what = "is left out of the means" if numbers else "is what the table shows"
    listed = ", ".join(map(str, others))
    return f"{dataset}, {algo}: fold {listed} in {folder}, of other settings or data, {what}"


def write_values(folder: Path, numbers: Sequence[int], benchmark: Benchmark) -> None:
    """Write per_query.csv and folds.csv from the stored scores of the folds of those numbers."""
    measures = default_measures(benchmark.convention)
    names = [str(each) for each in measures]
    queries: list[list[object]] = []
    means: list[np.ndarray] = []
    tests = [(fold.number, fold.test) for fold in benchmark.folds if fold.number in numbers]
    for number, test in tests:
        scores = read_scores(folder / f"fold{number}" / "scores.txt", test.n_docs)
        values = query_metrics(test.labels, scores, test.offsets, measures, benchmark.convention)
        rows = zip(test.qids.tolist(), values.tolist())
        queries += [[number, qid, *row] for qid, row in rows]
        means.append(values.mean(axis=0))
    store.write_rows(folder / "per_query.csv", ["fold", "qid", *names], queries)
    lines = [[number, *mean.tolist()] for (number, _), mean in zip(tests, means)]
    lines.append(["mean", *np.mean(means, axis=0).tolist()])
    store.write_rows(folder / "folds.csv", ["fold", *names], lines)
