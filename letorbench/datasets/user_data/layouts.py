"""Which layout a file has, found in how it begins and in the files beside it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from mmap import ACCESS_READ, mmap
from pathlib import Path

from letorbench.datasets.user_data.beside import beside
from letorbench.datasets.user_data.rows import Grades, Rows
from letorbench.datasets.user_data.svmlight import BOM, svmlight_rows
from letorbench.datasets.user_data.tables import Columns, table_rows
from letorbench.errors import DataError

#: the bytes in which a file's first row is looked for
_START = 1 << 16
_TABLE_ENDINGS = (".csv", ".tsv", ".parquet")
_WORD = re.compile(rb"(qid|\d+):\S*")
_GRADE_AND_QID = re.compile(rb"\d+\s+qid:")


def read_rows(paths: Sequence[Path], columns: Columns, grades: Grades) -> list[Rows] | None:
    """Read the files of one data set, whatever their layouts.

    Parameters
    ----------
    paths : sequence of Path
        Features count from 0 in all files of SVMlight text if one has a feature 0.
    columns : Columns
        What the columns of a table with names are.
    grades : tuple of float or None
        None where the labels are grades already.

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
    starts = {path: start_of(path) for path in paths}
    tables = [p for p in paths if not is_svmlight(starts[p]) and _is_table(p, starts[p])]
    texts = [path for path in paths if path not in tables]
    from_0 = any(_counts_from_0(path) for path in texts if is_svmlight(starts[path]))
    stay = (_is_letor(starts[path]) or not is_svmlight(starts[path]) for path in texts)
    if not tables and not from_0 and grades is None and all(stay):
        return None
    return [
        table_rows(path, columns) if path in tables else svmlight_rows(path, from_0)
        for path in paths
    ]


def start_of(path: Path) -> bytes:
    """Return how a file begins."""
    try:
        with path.open("rb") as file:
            return file.read(_START)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None


def is_svmlight(start: bytes) -> bool:
    """Return whether a file that begins so has rows of `index:value` words."""
    for line in start.removeprefix(BOM).split(b"\n"):
        words = line.partition(b"#")[0].split()
        if len(words) > 1:
            return all(_WORD.fullmatch(word) for word in words[1:])
    return False


def _is_letor(start: bytes) -> bool:
    """Return whether a file that begins so has a grade and a `qid:` in its first row."""
    rows = (line.strip() for line in start.split(b"\n"))
    first = next((row for row in rows if row and not row.startswith(b"#")), b"")
    return _GRADE_AND_QID.match(first) is not None


def _is_table(path: Path, start: bytes) -> bool:
    """Return whether a file is a table: by its name, or by columns described beside it."""
    others = beside(path)
    named = path.suffix.lower() in _TABLE_ENDINGS or start.startswith(b"PAR1")
    return named or (b"\0" not in start and bool(others.sizes or others.description))


def _counts_from_0(path: Path) -> bool:
    """Return whether a row of the file has the feature 0."""
    with path.open("rb") as file, mmap(file.fileno(), 0, access=ACCESS_READ) as text:
        for index in (b" 0:", b"\t0:"):
            at = text.find(index)
            while at >= 0:
                if b"#" not in text[text.rfind(b"\n", 0, at) + 1 : at]:
                    return True
                at = text.find(index, at + 1)
    return False
