"""The CSV files of a results folder, for people and programs; only `verify` reads them."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np

from letorbench import escaping
from letorbench.files import one_writer, refuse_links, write_unlocked
from letorbench.results import paths
from letorbench.results.dataset_results import DatasetResults, SystemResults, deviation_column
from letorbench.results.per_query import mean_of
from letorbench.results.store import Store

#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds", "repeats", "cut_off", "not_converged")


def write_tables(
    store: Store, dataset: str, algos: Collection[str] = (), data_dir: Path = Path("data")
) -> DatasetResults:
    """Write the CSV files of a data set, its algorithms and outdated ones; return its results."""
    if not paths.finished(store.out, dataset):
        return DatasetResults.of(store.look(dataset), dataset, data_dir)
    folder = store.out / dataset
    with one_writer(folder, store.out):
        results = DatasetResults.of(store.look(dataset), dataset, data_dir)
        for row in results.rows:
            if not (row.algo in algos or _outdated(row)):
                continue
            of_algo, tables = row.stored[0].folder_of_algo, algorithm_tables(row)
            refuse_links(store.out, of_algo)
            if paths.REPEATS not in tables:
                (of_algo / paths.REPEATS).unlink(missing_ok=True)
            for name, text in tables.items():  # who finds the last one finds all up to date
                with write_unlocked(of_algo / name) as file:
                    file.write(text)
        with write_unlocked(folder / paths.SUMMARY) as file:
            file.write(summary_csv(results))
    return results


def _outdated(row: SystemResults) -> bool:
    """Return whether a fold is newer than the table that is written last."""
    try:
        path = row.stored[0].folder_of_algo / paths.FOLDS
        return path.lstat().st_mtime_ns < max(fold.written for fold in row.stored)
    except OSError:
        return True


def summary_csv(results: DatasetResults) -> str:
    """Return the lines of a data set's summary.csv."""
    names = [*HEAD, *results.measures, *map(deviation_column, results.drawn)]
    lines = [[record[name] for name in names] for record in results.records(results.measures)]
    return escaping.csv_table([names, *lines])


def algorithm_tables(row: SystemResults) -> dict[str, str]:
    """Return the text of an algorithm's CSV files by their names, folds.csv last."""
    queries, repeats, means = row.queries, row.by_repeat, row.fold_means
    columns = [queries.folds, queries.qids, *queries.values.values()]
    lines = zip(*(column.tolist() for column in columns))
    tables = {paths.QUERIES: escaping.csv_table([["fold", "qid", *queries.values], *lines])}

    def text(head: str, labels: Iterable[object], values: np.ndarray) -> str:
        lines = [[label, *line] for label, line in zip(labels, values.tolist())]
        return escaping.csv_table([[head, *row.stored[0].means], *lines])

    if len(repeats) > 1:
        each = mean_of(means, axis=1)
        numbers = [repeat[0].key.repeat for repeat in repeats]
        table = np.vstack([each, each.mean(axis=0), each.std(axis=0, ddof=1)])
        tables[paths.REPEATS] = text("repeat", [*numbers, "mean", "sd"], table)
    table = np.vstack([mean_of(means, axis=0), mean_of(means, axis=(0, 1))])
    tables[paths.FOLDS] = text("fold", [*(fold.number for fold in repeats[0]), "mean"], table)
    return tables
