"""The CSV files of a results folder: copies of its folds' numbers for people and programs.

A run writes each where it is missing or says something else than the folds do. Nothing reads them.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

import numpy as np

from letorbench import escaping
from letorbench.errors import DataError
from letorbench.files import one_writer, read_file, refuse_links, write_atomically
from letorbench.results import paths
from letorbench.results.frame import Frame, Row, deviation_column
from letorbench.results.per_query import mean_of
from letorbench.results.store import Store, by_repeat

#: the columns of summary.csv before its measures
HEAD = ("algo", "convention", "folds", "repeats", "cut_off")


def read_frame(out: Path, dataset: str) -> Frame:
    """Read the finished folds of a data set, also of a run that goes on or was stopped.

    DataError says that there is no finished fold.
    """
    frame = Frame.of(Store(out).look(dataset), dataset)
    if not (frame.rows or frame.damaged):
        have = paths.present(out)
        there = f"results there: {', '.join(have)}" if have else "no results there"
        raise DataError(
            f"{paths.dataset_folder(out, dataset)}: found no finished fold ({there}); "
            f"`letorbench run --dataset {dataset}` makes them"
        )
    return frame


def write_tables(store: Store, dataset: str, algos: Iterable[str]) -> None:
    """Write the CSV files of algorithms and of their data set.

    Another run may have finished folds of the data set meanwhile: the store looks at them first.
    """
    folder, chosen = paths.dataset_folder(store.out, dataset), set(algos)
    if not paths.finished(store.out, dataset):
        return
    with one_writer(folder, store.out):
        frame = Frame.of(store.look(dataset), dataset)
        for row in frame.only(chosen).rows:
            _write_algorithm(store.out, row)
        _write_if_other(folder / paths.SUMMARY, summary_csv(frame))


def summary_csv(frame: Frame) -> str:
    """Return the lines of a data set's summary.csv."""
    names = [*HEAD, *frame.measures, *map(deviation_column, frame.drawn)]
    lines = [[record[name] for name in names] for record in frame.records(frame.measures)]
    return escaping.csv_table([names, *lines])


def _write_algorithm(out: Path, row: Row) -> None:
    """Write an algorithm's tables. Who finds folds.csv finds the others up to date."""
    folder, tables = paths.folder_of_fold(row.stored[0].folder), algorithm_tables(row)
    refuse_links(out, folder)
    if paths.REPEATS not in tables:
        (folder / paths.REPEATS).unlink(missing_ok=True)
    for name, text in tables.items():
        _write_if_other(folder / name, text)


def algorithm_tables(row: Row) -> dict[str, str]:
    """Return the text of an algorithm's CSV files by their names, folds.csv last.

    per_query.csv has the rows of the folds' own files, with the number of the fold before each.
    folds.csv has the means of each fold and, in its last row, the mean of these means. If there
    are repeats both have the means over them, and repeats.csv has the mean of the folds' means of
    each, their mean and their standard deviation.
    """
    queries, repeats, means = row.queries, by_repeat(row.stored), row.fold_means
    columns = [queries.folds, queries.qids, *queries.values.values()]
    lines = zip(*(column.tolist() for column in columns))
    tables = {paths.QUERIES: escaping.csv_table([["fold", "qid", *queries.values], *lines])}

    def text(head: str, labels: Iterable[object], values: np.ndarray) -> str:
        lines = [[label, *line] for label, line in zip(labels, values.tolist())]
        return escaping.csv_table([[head, *row.stored[0].means], *lines])

    if len(repeats) > 1:
        each = mean_of(means, axis=1)
        numbers = [repeat[0].repeat for repeat in repeats]
        table = np.vstack([each, each.mean(axis=0), each.std(axis=0, ddof=1)])
        tables[paths.REPEATS] = text("repeat", [*numbers, "mean", "sd"], table)
    table = np.vstack([mean_of(means, axis=0), mean_of(means, axis=(0, 1))])
    tables[paths.FOLDS] = text("fold", [*(fold.number for fold in repeats[0]), "mean"], table)
    return tables


def _write_if_other(path: Path, text: str) -> None:
    """Write the file unless it has this content."""
    with suppress(OSError):
        if read_file(path) == text.encode():
            return
    with write_atomically(path) as file:
        file.write(text)
