"""One file cut into folds by query, as LETOR lays its folds out."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from letorbench.datasets import layout, rotation
from letorbench.datasets.catalog import parse
from letorbench.datasets.own.table_lines import Columns, Lines, is_table, table_lines
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.scratch import new_folder
from letorbench.errors import DataError, UsageError
from letorbench.files import write_atomically


def split(
    path: Path,
    data_dir: Path,
    name: str | None = None,
    folds: int = 5,
    seed: int = 0,
    columns: Columns = Columns(),
) -> str:
    """Make a data set of one file of LETOR text, or of a table.

    The queries are shuffled and cut into parts, as `from_frame` does. Each part is the test part
    of one fold. Lines of LETOR text are copied as they are.

    Parameters
    ----------
    path : Path
        A .csv, .tsv or .parquet file; any other is LETOR text.
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
    found = table_lines(path, columns) if is_table(path) else _text_lines(path)
    parts = rotation.shuffled_parts(len(found.offsets) - 1, folds, seed, str(path))
    texts = [_text(found, part) for part in parts]
    with new_folder(target) as folder:
        if found.feature_names is not None:
            with write_atomically(folder / layout.FEATURE_NAMES) as file:
                file.writelines(f"{each}\n" for each in found.feature_names)
        rotation.write_folds(folder, texts)
    return name


def _text(found: Lines, queries: np.ndarray) -> bytes:
    """Return the lines of these queries, in their order."""
    spans = [(found.offsets[q], found.offsets[q + 1]) for q in queries]
    return b"".join(line + b"\n" for a, b in spans for line in found.lines[a:b])


def _text_lines(path: Path) -> Lines:
    """Read a file of LETOR text, and return its documents' lines as they are."""
    queries = read_queries(path, ReadOptions(null="min"))
    lines = [line.rstrip(b"\r") for line in path.read_bytes().split(b"\n")]
    documents = [line for line in lines if line.split(b"#")[0].strip()]
    if len(documents) != queries.n_docs:
        raise DataError(f"{path}: changed while it was read")
    return Lines(documents, queries.offsets)
