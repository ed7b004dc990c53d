"""The CSV files for people and other programs, made from the finished folds.

They are copies: letorbench itself reads the folders of the folds. Each is written only where it
is missing or says something else than the folds do, so that writing them is cheap at any time.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench import escaping
from letorbench.files import write_atomically
from letorbench.results import paths
from letorbench.results.per_query import PerQuery
from letorbench.results.stored_folds import StoredFold, by_repeat


def write_algorithm_tables(folder: Path, folds: Sequence[StoredFold]) -> None:
    """Write an algorithm's per_query.csv, its repeats.csv and, after them, its folds.csv.

    per_query.csv has the rows of the folds' own files, with the number of the fold before each.
    folds.csv has the means of each fold and, in its last row, the mean of these means. Where
    there are repeats both have the means over them, and repeats.csv has the mean of the folds'
    means of each, their mean and their standard deviation. folds.csv is written last, so that it
    never says of the others what is not true.

    Parameters
    ----------
    folder : Path
        The algorithm's folder.
    folds : sequence of StoredFold
        Its folds, the same ones of each repeat.
    """
    names = list(folds[0].means)
    repeats = by_repeat(folds)
    # (n_repeats, n_folds, n_measures)
    means = np.array([[[fold.means[name] for name in names] for fold in r] for r in repeats])
    rows = _labelled([fold.number for fold in repeats[0]], means.mean(axis=0))
    each = means.mean(axis=1)
    spread = _repeats_table(names, [repeat[0].repeat for repeat in repeats], each)
    _write_if_other(folder / paths.QUERIES, _queries(repeats))
    if spread:
        _write_if_other(folder / paths.REPEATS, spread)
    else:
        (folder / paths.REPEATS).unlink(missing_ok=True)
    table = [*rows, ["mean", *means.mean(axis=(0, 1)).tolist()]]
    _write_if_other(folder / paths.FOLDS, _csv(["fold", *names], table))


def write_summary_table(
    folder: Path, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Write the summary.csv of a data set's folder."""
    _write_if_other(folder / paths.SUMMARY, _csv(header, rows))


def _repeats_table(names: Sequence[str], numbers: Sequence[int], each: np.ndarray) -> str:
    """Return repeats.csv: a row for each repeat, the mean and the deviation; "" for one."""
    if len(each) < 2:
        return ""
    rows = _labelled(numbers, each)
    rows.append(["mean", *each.mean(axis=0).tolist()])
    rows.append(["sd", *each.std(axis=0, ddof=1).tolist()])
    return _csv(["repeat", *names], rows)


def _labelled(labels: Sequence[object], values: np.ndarray) -> list[list[object]]:
    """Return the rows of a table with their labels in front."""
    return [[label, *row] for label, row in zip(labels, values.tolist())]


def _queries(repeats: Sequence[Sequence[StoredFold]]) -> str:
    """Return the lines of an algorithm's per_query.csv."""
    header: list[str] = []
    rows: list[list[object]] = []
    for same in zip(*repeats, strict=True):
        queries = PerQuery.averaged([fold.queries() for fold in same])
        header = ["fold", "qid", *queries.values]
        table = np.stack(list(queries.values.values()), axis=1).tolist()
        rows += [[same[0].number, q, *row] for q, row in zip(queries.qids.tolist(), table)]
    return _csv(header, rows)


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the lines of a table; a float is written so that it reads back exactly."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    for row in [header, *rows]:
        writer.writerow([escaping.csv(cell) if isinstance(cell, str) else cell for cell in row])
    return file.getvalue()


def _write_if_other(path: Path, text: str) -> None:
    """Write the file unless it has this content."""
    try:
        same = path.read_bytes() == text.encode()
    except OSError:
        same = False
    if not same:
        with write_atomically(path) as file:
            file.write(text)
