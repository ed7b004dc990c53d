"""Tables, of text (CSV, TSV, numbers in columns) or Parquet, as rows of LETOR text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.arrays import LARGEST_FLOAT32, as_query_ids
from letorbench.datasets.user_data.beside import (
    Beside,
    beside,
    read_description,
    read_sizes,
)
from letorbench.datasets.user_data.rows import Rows
from letorbench.errors import DataError

#: what stands for a missing value
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-nan", "NaT", "<NA>"]
)


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
    """The columns' places, from 0, and their names for messages."""

    names: list[str]
    label: int
    qid: int | None
    docid: int | None
    features: list[int]
    has_header: bool = False
    feature_names: tuple[str, ...] | None = None
    layout: str = ""
    ignored: tuple[str, ...] = ()


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
    others = beside(path)
    roles, table = _parquet(path, columns, others) or _text(path, columns, others)
    places: list[str] = []
    labels: list[float] = []
    qids: list[Any] = []
    texts: list[str] = []
    for place, cells in table:

        def at(column: int, place: str = place) -> str:
            return f"{place}: column {roles.names[column]!r}"

        places.append(place)
        labels.append(_number(cells[roles.label], at, roles.label, "numbers"))
        if roles.qid is not None:
            qid = cells[roles.qid]
            qids.append(qid.strip() if isinstance(qid, str) else qid)
            # a query may be called NA in a text
            if qids[-1] == "" if isinstance(qid, str) else _is_missing(qid):
                raise DataError(f"{at(roles.qid)}: found no query id, expected one in each row")
        hint = "numbers (--columns names the columns to use)"
        values = [_number(cells[each], at, each, hint) for each in roles.features]
        tail = "" if roles.docid is None else f" #docid = {_word(path, cells[roles.docid])}"
        texts.append(_features(values, roles.features, at) + tail)
    if not texts:
        raise DataError(f"{path}: found no rows, expected at least 1")
    numbered = ""
    if others.sizes is not None and roles.qid is None:
        queries = read_sizes(others.sizes, len(texts), path)
    else:
        queries = as_query_ids(np.array(qids))
        if not all(each.isprintable() and not set(each) & set(" #") for each in set(queries)):
            numbers = {qid: number for number, qid in enumerate(dict.fromkeys(queries.tolist()), 1)}
            queries = np.array([numbers[qid] for qid in queries.tolist()])
            numbered = "; queries are numbered, as an id has a blank or a #"
    return Rows(
        path.name,
        np.array(labels),
        queries,
        texts,
        lambda row: f"{places[row]}: column {roles.names[roles.label]!r}",
        f"{roles.layout or 'a table'}{numbered}" if numbered else roles.layout,
        roles.ignored,
        roles.feature_names,
    )


def _is_missing(cell: Any) -> bool:
    return cell is None or str(cell).strip() in MISSING


def _number(cell: Any, at: Callable[[int], str], column: int, expected: str) -> float:
    """Return a cell's number, NaN where it is missing; float32 counts as its shortest decimals."""
    if _is_missing(cell):
        return np.nan
    try:
        text = str(int(cell) if isinstance(cell, (bool, np.bool_)) else cell)
        return float("not one" if "_" in text else text)
    except ValueError:
        found = str(cell)[:40]
        raise DataError(f"{at(column)}: found {found!r}, expected {expected}") from None


def _features(values: list[float], columns: list[int], at: Callable[[int], str]) -> str:
    """Return a row's features as LETOR text."""
    with np.errstate(over="ignore"):
        rounded = np.array(values).astype(np.float32)
    beyond = np.flatnonzero(np.isinf(rounded))
    if len(beyond):
        raise DataError(
            f"{at(columns[beyond[0]])}: found {values[beyond[0]]:g}, expected a number of at most "
            f"{LARGEST_FLOAT32:.3g} in size"
        )
    cells = ("NULL" if value != value else f"{value:.9g}" for value in rounded.tolist())
    return "".join(f" {index}:{cell}" for index, cell in enumerate(cells, 1))


def _word(path: Path, docid: Any) -> str:
    """Return a document's name as text; it ends at a blank where LETOR text is read."""
    text = "" if docid is None else str(docid)
    if len(text.split()) != 1 or text != text.strip() or not text.isprintable():
        raise DataError(f"{path}: found the document's name {text!r}, expected one word")
    return text


def _parquet(
    path: Path, columns: Columns, others: Beside
) -> tuple[_Roles, Iterable[tuple[str, Any]]] | None:
    """Return a Parquet file's columns and its rows with their places; None for another file."""
    with path.open("rb") as file:
        if path.suffix.lower() != ".parquet" and file.read(4) != b"PAR1":
            return None
    import pandas as pd

    try:
        frame = pd.read_parquet(path)
    except ImportError:
        raise DataError(
            f"{path}: found Parquet, which needs a package; "
            "`python -m pip install 'letorbench[parquet]'` brings it"
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None
    rows = zip(*(column.to_numpy() for _, column in frame.items()))
    return (
        _named(path, [str(name) for name in frame.columns], columns, others),
        ((f"{path}: row {number}", cells) for number, cells in enumerate(rows)),
    )


def _text(
    path: Path, columns: Columns, others: Beside
) -> tuple[_Roles, Iterator[tuple[str, list[str]]]]:
    """Return a text's columns, and its rows with their places."""
    rows = _cells(path)
    try:
        place, first = next(rows)
    except StopIteration:
        raise DataError(f"{path}: no table: found an empty file, expected rows") from None
    roles = _roles(path, first, columns, others)

    def all_rows() -> Iterator[tuple[str, list[str]]]:
        if not roles.has_header:
            yield place, first
        yield from rows

    return roles, all_rows()


def _cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a text, each with its place; DataError where their lengths differ."""
    width = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            start = file.readline()
            separator = "\t" if "\t" in start else "," if "," in start else " "
            file.seek(0)
            # a blank parts cells however often it stands
            lines = map(" ".join, map(str.split, file)) if separator == " " else file
            words = csv.reader(lines, delimiter=separator)
            for cells in filter(None, words):
                width = width or len(cells)
                if len(cells) != width:
                    raise DataError(
                        f"{path}:{words.line_num}: found {len(cells)} columns, expected {width} "
                        "as in the first row"
                    )
                yield f"{path}:{words.line_num}", cells
    except DataError:
        raise
    except (ValueError, OSError, csv.Error) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None


def _roles(path: Path, first: list[str], columns: Columns, others: Beside) -> _Roles:
    """Return what the columns of a text are, of which these are the first row's cells."""
    ignored = [".weight"] if others.weights else []
    names = [str(column) for column in range(len(first))]
    if columns.label in first or not (others.description or _all_numbers(first)):
        return _named(path, first, columns, others)
    if others.description is not None:
        described = read_description(others.description, len(first), path)
        places = {column.role: place for place, column in enumerate(described)}
        features = [place for place, column in enumerate(described) if column.role == "feature"]
        named = any(described[place].name for place in features)
        if "qid" not in places and others.sizes is None:
            raise DataError(f"{others.description}: found no column of type GroupId, expected 1")
        roles = _Roles(
            names, places["label"], places.get("qid"), places.get("docid"), features,
            feature_names=tuple(described[place].name or str(n) for n, place in enumerate(features))
            if named else None,
            layout=f"columns as {others.description.name} describes them (CatBoost)",
            ignored=(*ignored, *(each.type for each in described if each.role == "ignored")),
        )  # fmt: skip
    elif others.sizes is not None:
        layout = f"columns of numbers, the first the label, queries by {others.sizes.suffix}"
        features = list(range(1, len(first)))
        roles = _Roles(names, 0, None, None, features, layout=layout, ignored=tuple(ignored))
    else:
        raise DataError(
            f"{path}:1: found numbers only, expected the columns' names, or {path.name}.query, "
            f"{path.name}.group or {path.stem}.cd beside the file"
        )
    if not roles.features:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    return roles


def _all_numbers(cells: list[str]) -> bool:
    try:
        return bool(np.isfinite([float(cell or 0) for cell in cells]).all())
    except ValueError:
        return False


def _named(path: Path, names: list[str], columns: Columns, others: Beside) -> _Roles:
    """Return the roles of columns with names."""
    sizes = others.sizes if columns.qid not in names else None
    special = [columns.label, *([] if sizes else [columns.qid])]
    special += [columns.docid] if columns.docid else []
    for name in (*special, *(columns.features or ())):
        require_choice(name, names, "column")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: found the column {name!r} twice, expected each name once")
        if not name.isprintable():
            raise DataError(f"{path}: found the column {name!r}, expected a name in one line")
    chosen = list(columns.features or [name for name in names if name not in special])
    if not chosen:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    return _Roles(
        names,
        names.index(columns.label),
        None if sizes else names.index(columns.qid),
        names.index(columns.docid) if columns.docid else None,
        [names.index(name) for name in chosen],
        True,
        tuple(chosen),
        f"a table, queries by {sizes.suffix}" if sizes else "",
    )
