"""The CSV files for people and other programs, made from the finished folds.

They are copies: letorbench itself reads the folders of the folds. Each is written only where it
is missing or says something else than the folds do, so that writing them is cheap at any time.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.files import write_atomically
from letorbench.results import paths
from letorbench.results.fold_files import StoredFold


def write_algorithm_tables(folds: Sequence[StoredFold]) -> None:
    """Write an algorithm's per_query.csv and, after it, its folds.csv.

    per_query.csv has the rows of the folds' own files, with the number of the fold before each.
    folds.csv has the means of each fold and, in its last row, the mean of these means. It is
    written last, so that it never says of per_query.csv what is not true.
    """
    folder = folds[0].folder.parent
    names = list(folds[0].means)
    means = [[fold.means[name] for name in names] for fold in folds]
    rows: list[list[object]] = [[fold.number, *row] for fold, row in zip(folds, means)]
    rows.append(["mean", *np.mean(means, axis=0).tolist()])
    text = _csv(["fold", *names], rows)
    if (folder / paths.QUERIES).is_file() and _holds(folder / paths.FOLDS, text):
        return
    _write_queries(folder / paths.QUERIES, folds)
    _write(folder / paths.FOLDS, text)


def write_summary_table(
    folder: Path, header: Sequence[str], rows: Sequence[Sequence[object]]
) -> None:
    """Write the summary.csv of a data set's folder."""
    text = _csv(header, rows)
    if not _holds(folder / paths.SUMMARY, text):
        _write(folder / paths.SUMMARY, text)


def _write_queries(path: Path, folds: Sequence[StoredFold]) -> None:
    with write_atomically(path) as file:
        for i, fold in enumerate(folds):
            with (fold.folder / paths.QUERIES).open(encoding="utf-8") as part:
                header = next(part)
                if i == 0:
                    file.write(f"fold,{header}")
                file.writelines(f"{fold.number},{line}" for line in part)


def _csv(header: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return the lines of a table; a float is written so that it reads back exactly."""
    return "".join(",".join(map(_cell, row)) + "\n" for row in [header, *rows])


def _cell(value: object) -> str:
    if value is None:
        return ""
    return repr(value) if isinstance(value, float) else str(value)


def _holds(path: Path, text: str) -> bool:
    """Return whether the file has this content."""
    try:
        return path.read_text(encoding="utf-8") == text
    except (OSError, ValueError):
        return False


def _write(path: Path, text: str) -> None:
    with write_atomically(path) as file:
        file.write(text)
