"""One file cut into folds by query, as LETOR lays its folds out."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from letorbench.datasets import layout, rotation
from letorbench.datasets.catalog import parse
from letorbench.datasets.own.grading import Grades
from letorbench.datasets.own.layouts import read_rows
from letorbench.datasets.own.rows import Lines, letor_lines, write_names
from letorbench.datasets.own.table_rows import Columns
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.scratch import new_folder
from letorbench.errors import DataError, UsageError


def split(
    path: Path,
    data_dir: Path,
    name: str | None = None,
    folds: int = 5,
    seed: int = 0,
    columns: Columns = Columns(),
    grades: Grades = None,
    tell: Callable[[str], None] = lambda line: None,
) -> str:
    """Make a data set of one file of LETOR text, of a table or of another library's layout.

    The queries are shuffled and cut into parts, as `from_frame` does. Each part is the test part
    of one fold. Lines of LETOR text are copied as they are.

    Parameters
    ----------
    path : Path
        See `svmlight_rows` and `table_rows` for what else than LETOR text it may be.
    data_dir : Path
        The folder of the data sets.
    name : str, optional
        The name of the data set; the file's without its ending by default.
    folds : int
        The number of parts and of folds, at least 3.
    seed : int
        The seed of the shuffle.
    columns : Columns
        What the columns of a table are.
    grades : tuple of float or None
        What makes grades of the labels; see `letorbench.datasets.own.grading`.
    tell : callable
        Takes a line on what the file was taken for and on what was done.

    Returns
    -------
    str
        The name of the data set.

    Raises
    ------
    DataError
        The file is not right, has too few queries, or there is a data set of that name already.
    UsageError
        The name cannot be that of a data set, or a column does not exist.
    """
    name = path.stem if name is None else name
    if not layout.OWN_NAME.fullmatch(name) or parse(name).entry is not None:
        raise UsageError(
            f"{name!r} cannot name a data set of one's own; expected letters, digits, - and _, "
            "and no published set's name (--name gives one)"
        )
    target = data_dir / name
    if target.exists():
        raise DataError(f"{target}: is there already; --name gives the data set another name")
    with new_folder(target) as folder:
        rows = read_rows([path], columns, grades, folder)
        found = _text_lines(path) if rows is None else letor_lines(rows, grades, tell)[0]
        parts = rotation.shuffled_parts(len(found.offsets) - 1, folds, seed, str(path))
        rotation.write_folds(folder, [found.text(part) for part in parts])
        if rows is not None:
            write_names(folder, rows)
    return name


def _text_lines(path: Path) -> Lines:
    """Read a file of LETOR text, and return its documents' lines as they are."""
    queries = read_queries(path, ReadOptions(null="min"))
    lines = [line.rstrip(b"\r") for line in path.read_bytes().split(b"\n")]
    documents = [line for line in lines if line.split(b"#")[0].strip()]
    if len(documents) != queries.n_docs:
        raise DataError(f"{path}: changed while it was read")
    return Lines(documents, queries.offsets)
