"""Tables with named columns, CSV, TSV or Parquet, as lines of LETOR text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.arrays import as_features, as_labels, group_rows
from letorbench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

#: what a table's file name ends in
ENDINGS = (".csv", ".tsv", ".parquet")


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what.

    Attributes
    ----------
    label : str
        The relevance labels, integers from 0.
    qid : str
        The query ids, integers or text.
    docid : str, optional
        The documents' names.
    features : sequence of str, optional
        The features; all other columns by default, which must be numbers.
    """

    label: str = "label"
    qid: str = "qid"
    docid: str | None = None
    features: Sequence[str] | None = None


@dataclass(frozen=True, eq=False)
class Lines:
    """A data set as lines of LETOR text.

    Attributes
    ----------
    lines : list of bytes
        One a document, without its newline. The lines of a query stand together.
    offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns the lines offsets[q]:offsets[q + 1].
    feature_names : tuple of str, optional
        The names of the features, where the file has them.
    """

    lines: list[bytes]
    offsets: np.ndarray
    feature_names: tuple[str, ...] | None = None


def is_table(path: Path) -> bool:
    """Return whether a file is a table by its name."""
    return path.suffix.lower() in ENDINGS


def table_lines(path: Path, columns: Columns) -> Lines:
    """Read a table, and write each row as a line of LETOR text.

    A missing value of a feature becomes NULL. A value is rounded to float32, as everything that
    letorbench reads, and written so that it reads back exactly. Queries are numbered from 1 in
    the order in which they first appear, unless their ids are integers.

    Raises
    ------
    DataError
        The file cannot be read as a table, or a value is of a wrong kind.
    UsageError
        A column does not exist.
    """
    frame = _read(path)
    chosen = _features(frame, columns, path)
    table = frame[chosen].to_numpy(dtype=np.float64, na_value=np.nan)
    missing = np.isnan(table)
    try:
        features = as_features(np.where(missing, 0.0, table))
        labels = _labels(frame[columns.label])
        offsets, qids, rows = group_rows(len(frame), frame[columns.qid])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    numbers = qids if qids.dtype.kind in "iu" else np.arange(1, len(qids) + 1)
    heads = [f"{label} qid:" for label in labels]
    tails = [""] * len(frame)
    if columns.docid is not None:
        docids = frame[columns.docid]
        given = docids.astype(object).where(docids.notna(), "")
        tails = [f" #docid = {_word(path, name)}" for name in given]
    order = np.arange(len(frame)) if rows is None else rows
    of_row = np.repeat(numbers, np.diff(offsets))
    lines = [
        f"{heads[row]}{number}{_values(features[row], missing[row])}{tails[row]}".encode()
        for row, number in zip(order.tolist(), of_row.tolist(), strict=True)
    ]
    return Lines(lines, offsets, tuple(_line(path, name) for name in chosen))


def _labels(column: pd.Series) -> np.ndarray:
    """Return the labels; DataError names their column."""
    try:
        return as_labels(column, len(column))
    except DataError as error:
        text = str(error).removeprefix("y: ")
        raise DataError(f"column {str(column.name)!r}: {text}") from None


def _word(path: Path, docid: object) -> str:
    """Return a document's name as text; it ends at a blank where LETOR text is read."""
    text = str(docid)
    if len(text.split()) != 1 or text != text.strip() or not text.isprintable():
        raise DataError(f"{path}: found the document's name {text!r}, expected one word")
    return text


def _line(path: Path, name: object) -> str:
    """Return a feature's name as text; the names are kept one a line."""
    text = str(name)
    if not text.isprintable():
        raise DataError(f"{path}: found the column {text!r}, expected a name in one line")
    return text


def _values(features: np.ndarray, missing: np.ndarray) -> str:
    cells = (
        "NULL" if lacks else f"{value:.9g}" for value, lacks in zip(features.tolist(), missing)
    )
    return "".join(f" {index}:{cell}" for index, cell in enumerate(cells, 1))


def _read(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        if path.suffix.lower() == ".parquet":
            return pd.read_parquet(path)
        separator = "\t" if path.suffix.lower() == ".tsv" else ","
        return pd.read_csv(path, sep=separator)
    except ImportError:
        raise DataError(
            f"{path}: found Parquet, which needs a package; "
            "`python -m pip install 'letorbench[parquet]'` brings it"
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None


def _features(frame: pd.DataFrame, columns: Columns, path: Path) -> list[str]:
    """Return the columns of the features, all of them numbers."""
    special = [columns.label, columns.qid, *([columns.docid] if columns.docid else [])]
    for name in (*special, *(columns.features or ())):
        require_choice(name, [str(each) for each in frame.columns], "column")
    chosen = columns.features or [each for each in frame.columns if each not in special]
    for name in chosen:
        if frame[name].dtype.kind not in "biuf":
            raise DataError(
                f"{path}: column {name!r}: found values of type {frame[name].dtype}, expected "
                "numbers (--columns names those to use)"
            )
    return list(chosen)
