"""Tables, of text (CSV, TSV, numbers in columns) or Parquet, as rows of LETOR text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.arrays import LARGEST_FLOAT32, as_query_ids
from letorbench.datasets.own.beside import beside, read_description, read_sizes
from letorbench.datasets.own.rows import Rows
from letorbench.errors import DataError, LetorError

if TYPE_CHECKING:
    import pandas as pd

#: what a table's file name ends in
ENDINGS = (".csv", ".tsv", ".parquet")
#: what stands for a missing number
MISSING = ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-nan"]


@dataclass(frozen=True)
class Columns:
    """Which column of a table is what.

    Attributes
    ----------
    label : str
        The relevance labels.
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


@dataclass(frozen=True)
class _Roles:
    """The places of the columns, from 0, and the names of the features where they have some."""

    label: int
    qid: int | None
    docid: int | None
    features: list[int]
    names: tuple[str, ...] | None
    header: bool = False
    layout: str = ""
    ignored: tuple[str, ...] = ()


def is_table(path: Path, start: bytes) -> bool:
    """Return whether a file is a table: by its name, or by columns described beside it."""
    others = beside(path)
    named = path.suffix.lower() in ENDINGS or start.startswith(b"PAR1")
    return named or (b"\0" not in start and bool(others.sizes or others.description))


def table_rows(path: Path, columns: Columns) -> Rows:
    """Read a table.

    A text's first line has the names of the columns, or CatBoost's description beside the file
    says what they are, or there are numbers only, the label first, and the sizes of the queries
    beside the file. A missing value of a feature becomes NULL. A value is rounded to float32, as
    everything that letorbench reads, and written so that it reads back exactly.

    Raises
    ------
    DataError
        The file cannot be read as a table, or a value is of a wrong kind.
    UsageError
        A column does not exist.
    """
    frame, roles, where = _read(path, columns)

    def place(row: int, column: int = roles.label) -> str:
        return f"{where(row)}: column {names[column]!r}"

    names = [str(name) for name in frame.columns]
    frame.columns = range(len(names))
    labels = _numbers(frame[roles.label], place, "numbers")
    hint = "numbers (--columns names the columns to use)"
    table = np.column_stack([_numbers(frame[each], place, hint) for each in roles.features])
    with np.errstate(over="ignore"):
        features = table.astype(np.float32)
    beyond = np.argwhere(np.isinf(features))
    if len(beyond):
        row, column = beyond[0].tolist()
        raise DataError(
            f"{place(row, roles.features[column])}: found {table[row, column]:g}, expected a "
            f"number of at most {LARGEST_FLOAT32:.3g} in size"
        )
    tails = [""] * len(frame)
    if roles.docid is not None:
        docids = frame[roles.docid]
        given = docids.astype(object).where(docids.notna(), "")
        tails = [f" #docid = {_word(path, name)}" for name in given]
    qids, numbered = _queries(path, frame, roles, place)
    return Rows(
        path.name,
        labels,
        qids,
        [_values(*row) + tail for row, tail in zip(zip(features, np.isnan(features)), tails)],
        place,
        f"{roles.layout or 'a table'}{numbered}" if numbered else roles.layout,
        roles.ignored,
        roles.names and tuple(_line(path, name) for name in roles.names),
    )


def _queries(
    path: Path, frame: pd.DataFrame, roles: _Roles, place: Callable[..., str]
) -> tuple[np.ndarray, str]:
    """Return the query of each row, and a word where they are numbered.

    They are where an id cannot stand in LETOR text.
    """
    if roles.qid is None:
        return read_sizes(beside(path).sizes, len(frame), path), ""
    column = frame[roles.qid]
    if column.dtype.kind not in "iuf":
        column = column.astype(object).where(column.notna(), "").astype(str).str.strip()
    missing = np.flatnonzero(column.isna() | (column == ""))
    if len(missing):
        where = place(missing[0], roles.qid)
        raise DataError(f"{where}: found no query id, expected one in each row")
    codes, ids = column.factorize()
    if all(str(each).isprintable() and not set(str(each)) & set(" #") for each in ids):
        return as_query_ids(column.to_numpy()), ""
    return codes.astype(np.int64) + 1, "; queries are numbered, as an id has a blank or a #"


def _numbers(column: pd.Series, place: Callable[..., str], expected: str) -> np.ndarray:
    """Return a column's numbers, NaN where one is missing."""
    import pandas as pd

    if column.dtype.kind not in "biuf":
        numbers = pd.to_numeric(column, errors="coerce")
        bad = np.flatnonzero(numbers.isna() & column.notna())
        if len(bad):
            found = str(column.iloc[bad[0]])[:40]
            raise DataError(f"{place(bad[0], column.name)}: found {found!r}, expected {expected}")
        column = numbers
    kind = np.float32 if column.dtype == np.float32 else np.float64
    return column.to_numpy(dtype=kind, na_value=np.nan)


def _word(path: Path, docid: object) -> str:
    """Return a document's name as text; it ends at a blank where LETOR text is read."""
    text = str(docid)
    if len(text.split()) != 1 or text != text.strip() or not text.isprintable():
        raise DataError(f"{path}: found the document's name {text!r}, expected one word")
    return text


def _line(path: Path, name: str) -> str:
    """Return a feature's name; the names are kept one a line."""
    if not name.isprintable():
        raise DataError(f"{path}: found the column {name!r}, expected a name in one line")
    return name


def _values(features: np.ndarray, missing: np.ndarray) -> str:
    cells = (
        "NULL" if lacks else f"{value:.9g}" for value, lacks in zip(features.tolist(), missing)
    )
    return "".join(f" {index}:{cell}" for index, cell in enumerate(cells, 1))


def _read(path: Path, columns: Columns) -> tuple[pd.DataFrame, _Roles, Callable[[int], str]]:
    """Return the table, what its columns are, and what says where a row stands."""
    import pandas as pd

    try:
        with path.open("rb") as file:
            start = file.read(4)
        if path.suffix.lower() == ".parquet" or start == b"PAR1":
            frame = pd.read_parquet(path)
            names = [str(name) for name in frame.columns]
            return frame, _named(path, names, columns), lambda row: f"{path}: row {row}"
        separator, first, lines = _lines(path)
        roles = _roles(path, first, columns)
        # from pandas 3.1 on, every number is exact without being asked for
        exact = tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)
        words = {each for each in (roles.qid, roles.docid) if each is not None}
        frame = pd.read_csv(
            path,
            sep=r"\s+" if separator == " " else separator,
            header=0 if roles.header else None,
            encoding="utf-8-sig",
            dtype={each: str for each in words},
            keep_default_na=False,  # a query may be called NA
            na_values={each: MISSING for each in range(len(first)) if each not in words},
            index_col=False,
            low_memory=False,
            float_precision=None if exact else "round_trip",
        )
    except ImportError:
        raise DataError(
            f"{path}: found Parquet, which needs a package; "
            "`python -m pip install 'letorbench[parquet]'` brings it"
        ) from None
    except LetorError:
        raise
    except (ValueError, OSError, csv.Error) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None
    lines = lines[roles.header :]
    if len(frame) != len(lines):
        raise DataError(f"{path}: found {len(frame)} rows, expected {len(lines)}, its lines")
    return frame, roles, lambda row: f"{path}:{lines[row]}"


def _lines(path: Path) -> tuple[str, list[str], list[int]]:
    """Return a text's separator, the cells of its first row, and the line of each row.

    Raises
    ------
    DataError
        The text is empty, or a row has another number of cells than the first.
    """
    with path.open(encoding="utf-8-sig", newline="") as file:
        start = file.readline()
        separator = "\t" if "\t" in start else "," if "," in start else " "
        file.seek(0)
        # a blank parts cells however often it stands
        words = csv.reader(
            map(" ".join, map(str.split, file)) if separator == " " else file, delimiter=separator
        )
        first: list[str] = []
        lines = []
        for cells in filter(None, words):
            first = first or cells
            if len(cells) != len(first):
                raise DataError(
                    f"{path}:{words.line_num}: found {len(cells)} columns, expected {len(first)} "
                    "as in the first row"
                )
            lines.append(words.line_num)
    if not lines:
        raise DataError(f"{path}: no table: found an empty file, expected rows")
    return separator, first, lines


def _roles(path: Path, first: list[str], columns: Columns) -> _Roles:
    """Return what the columns of a text are, of which these are the first row's cells."""
    others = beside(path)
    ignored = [".weight"] if others.weights else []
    if columns.label in first:
        return _named(path, first, columns)
    if others.description is not None:
        found = read_description(others.description, len(first), path)
        places = {column.role: place for place, column in enumerate(found)}
        features = [place for place, column in enumerate(found) if column.role == "feature"]
        names = tuple(found[place].name or str(n) for n, place in enumerate(features))
        ignored += [column.type for column in found if column.role == "ignored"]
        layout = f"columns as {others.description.name} describes them (CatBoost)"
        named = any(column.name for column in found if column.role == "feature")
        if "qid" not in places and others.sizes is None:
            raise DataError(f"{others.description}: found no column of type GroupId, expected 1")
        roles = _Roles(
            places["label"], places.get("qid"), places.get("docid"), features,
            names if named else None, False, layout, tuple(ignored),
        )  # fmt: skip
    elif others.sizes is not None and _all_numbers(first):
        layout = f"columns of numbers, the first the label, queries by {others.sizes.suffix}"
        features = list(range(1, len(first)))
        roles = _Roles(0, None, None, features, None, False, layout, tuple(ignored))
    elif _all_numbers(first):
        raise DataError(
            f"{path}:1: found numbers only, expected the columns' names, or {path.name}.query, "
            f"{path.name}.group or {path.stem}.cd beside the file"
        )
    else:
        return _named(path, first, columns)
    if not roles.features:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    return roles


def _all_numbers(cells: list[str]) -> bool:
    try:
        return bool(np.isfinite([float(cell or 0) for cell in cells]).all())
    except ValueError:
        return False


def _named(path: Path, names: list[str], columns: Columns) -> _Roles:
    """Return the roles of columns with names."""
    sizes = columns.qid not in names and beside(path).sizes is not None
    special = [columns.label, *([] if sizes else [columns.qid])]
    special += [columns.docid] if columns.docid else []
    for name in (*special, *(columns.features or ())):
        require_choice(name, names, "column")
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise DataError(f"{path}: found the column {twice!r} twice, expected each name once")
    chosen = list(columns.features or [name for name in names if name not in special])
    if not chosen:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    return _Roles(
        names.index(columns.label),
        None if sizes else names.index(columns.qid),
        names.index(columns.docid) if columns.docid else None,
        [names.index(name) for name in chosen],
        tuple(chosen),
        True,
        f"a table, queries by {beside(path).sizes.suffix}" if sizes else "",
    )
