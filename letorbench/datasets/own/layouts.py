"""Which layout the files of one data set have, found in what they hold."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from letorbench.datasets.own.grading import Grades
from letorbench.datasets.own.rows import Rows
from letorbench.datasets.own.svmlight import counts_from_0, is_letor, is_svmlight, svmlight_rows
from letorbench.datasets.own.table_rows import Columns, is_table, table_rows
from letorbench.errors import DataError

#: the bytes in which a file's first row is looked for
_START = 1 << 16


def read_rows(
    paths: Sequence[Path], columns: Columns, grades: Grades, scratch: Path
) -> list[Rows] | None:
    """Read the files of one data set, whatever their layouts.

    Parameters
    ----------
    paths : sequence of Path
        Features count from 0 in all files of SVMlight text if one has a feature 0.
    columns : Columns
        What the columns of a table with names are.
    grades : tuple of float or None
        None where the labels are grades already.
    scratch : Path
        A folder for files.

    Returns
    -------
    list of Rows or None
        None where all files are LETOR text that may stay as it is.

    Raises
    ------
    DataError
        At the first mistake in a file of another layout.
    UsageError
        A column does not exist.
    """
    starts = {path: _start(path) for path in paths}
    tables = [p for p in paths if not is_svmlight(starts[p]) and is_table(p, starts[p])]
    texts = [p for p in paths if p not in tables]
    from_0 = any(counts_from_0(path) for path in texts if is_svmlight(starts[path]))
    kept = (is_letor(starts[path]) or not is_svmlight(starts[path]) for path in texts)
    if not tables and not from_0 and grades is None and all(kept):
        return None
    return [
        table_rows(path, columns) if path in tables else svmlight_rows(path, from_0, scratch)
        for path in paths
    ]


def _start(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
