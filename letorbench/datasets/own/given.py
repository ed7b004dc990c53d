"""Parts that are given: made LETOR text of, and test parts composed to folds."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.layout import PARTS, fold_number
from letorbench.datasets.own.grading import Grades
from letorbench.datasets.own.layouts import read_rows
from letorbench.datasets.own.rows import letor_lines, listed, write_names
from letorbench.datasets.own.table_rows import Columns
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.rotation import write_folds_of_tests
from letorbench.errors import DataError
from letorbench.files import write_atomically


def make_letor_text(
    folder: Path,
    parts: Sequence[tuple[Path, Path]],
    grades: Grades,
    tell: Callable[[str], None],
) -> list[Path]:
    """Make LETOR text of a data set's parts, unless they are that already.

    Parameters
    ----------
    folder : Path
        The folder of the data set.
    parts : sequence of (Path, Path)
        Each part's file, and the file that its LETOR text is to have.
    grades : tuple of float or None
        What makes grades of the labels; see `letorbench.datasets.own.grading`.
    tell : callable
        Takes a line on what the files were taken for and on what was done.

    Returns
    -------
    list of Path
        The data set's files.
    """
    made = [new for _, new in parts]
    rows = read_rows([old for old, _ in parts], Columns(), grades, folder)
    if rows is None:
        if any(old != new for old, new in parts):
            tell(f"{listed([old.name for old, _ in parts])}: LETOR text")
        for old, new in parts:
            new.parent.mkdir(exist_ok=True)
            os.replace(old, new)
    else:
        for (_, new), found in zip(parts, letor_lines(rows, grades, tell), strict=True):
            with write_atomically(new, binary=True) as file:
                file.write(found.text(np.arange(len(found.offsets) - 1)))
        made += write_names(folder, rows)
    if not any(path.name.lower() in PARTS["validation"] for path in made):
        tell(f"{folder.name}: no validation part: the last fifth of the training queries validates")
    return made


def compose_folds(folder: Path, tests: Sequence[Path], tell: Callable[[str], None]) -> list[Path]:
    """Compose folds of test parts alone, as LETOR's rotate; return their files.

    Raises
    ------
    DataError
        A part is no LETOR text, has other features than the first, or a query of another part.
    """
    tests = sorted(tests, key=lambda path: fold_number(path.parent.name) or 0)
    width, part_of_query = 0, dict[str, Path]()
    for path in tests:
        part = read_queries(path, ReadOptions(null="min"))
        width = width or part.n_features
        if part.n_features != width:
            raise DataError(f"{path}: found {part.n_features} features, expected {width}")
        for qid in part.qids.tolist():
            other = part_of_query.setdefault(qid, path)
            if other is not path:
                raise DataError(
                    f"{path}: found query {qid} of {other} too, expected each query in one part"
                )
    write_folds_of_tests(folder, tests)
    tell(
        f"{folder.name}: test parts alone: each fold trains on {len(tests) - 2} of them and "
        "validates on the one before its own, as LETOR's folds rotate"
    )
    names = [names[0] for names in PARTS.values()]
    return [folder / f"Fold{k + 1}" / name for k in range(len(tests)) for name in names]
