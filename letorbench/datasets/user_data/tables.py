"""Tables, of text (CSV, TSV, numbers in columns) or Parquet, as rows of LETOR text."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.arrays import LARGEST_FLOAT32, as_query_ids
from letorbench.datasets.user_data.beside import Beside, beside, read_description, read_sizes
from letorbench.datasets.user_data.rows import Rows
from letorbench.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

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
    """The numbers of the columns, from 0, by what they are."""

    label: int
    features: Sequence[int]
    qid: int | None = None
    docid: int | None = None
    feature_names: tuple[str, ...] | None = None
    layout: str = ""
    ignored: tuple[str, ...] = ()


def table_rows(path: Path, columns: Columns) -> Rows:
    """Read a table.

    A text's first line has the names of the columns, or CatBoost's description beside the file
    says what they are, or there are numbers only, the label first, and the sizes of the queries
    beside the file. A missing value of a feature becomes NULL. A value is rounded to float32, as
    everything that letorbench reads, and written so that it reads back exactly.
    """
    others = beside(path)
    frame = _parquet(path)
    if frame is not None:
        names = [str(name) for name in frame.columns]
        cells: list[Sequence[Any]] = [column.to_numpy() for _, column in frame.items()]
        places = [f"{path}: row {number}" for number in range(len(frame))]
        roles = _named(path, names, columns, others)
    else:
        places, rows = map(list, zip(*_cells(path)))
        names = [str(number) for number in range(len(rows[0]))]
        if columns.label in rows[0] or not (others.description or _all_numbers(rows[0])):
            places, names, rows = places[1:], rows[0], rows[1:]
            roles = _named(path, names, columns, others)
        else:
            roles = _described(path, len(names), others)
        cells = list(zip(*rows))
    if not roles.features:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    if not places:
        raise DataError(f"{path}: found no rows, expected at least 1")

    def numbers(column: int, expected: str) -> np.ndarray:
        return _numbers(cells[column], lambda row: at(row, column), expected)

    def at(row: int, column: int = roles.label) -> str:
        return f"{places[row]}: column {names[column]!r}"

    labels = numbers(roles.label, "numbers")
    hint = "numbers (--columns names the columns to use)"
    values = np.column_stack([numbers(column, hint) for column in roles.features])
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    for row, column in np.argwhere(np.isinf(rounded)):
        raise DataError(
            f"{at(row, roles.features[column])}: found {values[row, column]:g}, expected a number "
            f"of at most {LARGEST_FLOAT32:.3g} in size"
        )
    texts = ["".join(map(_feature, range(1, len(row) + 1), row)) for row in rounded.tolist()]
    if roles.docid is not None:
        docids = (_word(path, cell) for cell in cells[roles.docid])
        texts = [f"{text} #docid = {docid}" for text, docid in zip(texts, docids)]
    numbered = ""
    if roles.qid is None:
        queries = read_sizes(others.sizes, len(texts), path)
    else:
        queries = _queries(cells[roles.qid], lambda row: at(row, roles.qid))
        if not all(each.isprintable() and not set(each) & set(" #") for each in set(queries)):
            order = {qid: number for number, qid in enumerate(dict.fromkeys(queries.tolist()), 1)}
            queries = np.array([order[qid] for qid in queries.tolist()])
            numbered = "; queries are numbered, as an id has a blank or a #"
    layout = f"{roles.layout or 'a table'}{numbered}" if numbered else roles.layout
    ignored = (*([".weight"] if others.weights else []), *roles.ignored)
    return Rows(path.name, labels, queries, texts, at, layout, ignored, roles.feature_names)


def _numbers(cells: Sequence[Any], at: Callable[[int], str], expected: str) -> np.ndarray:
    """Return a column's numbers, NaN where missing; float32 counts as its shortest decimals."""
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        text = str(int(cell) if isinstance(cell, (bool, np.bool_)) else cell).strip()
        if text in MISSING:
            continue
        try:
            values[row] = float("not one" if "_" in text else text)
        except ValueError:
            raise DataError(f"{at(row)}: found {text[:40]!r}, expected {expected}") from None
    return values


def _queries(cells: Sequence[Any], at: Callable[[int], str]) -> np.ndarray:
    """Return the query ids as text."""
    ids = [cell.strip() if isinstance(cell, str) else cell for cell in cells]
    for row, qid in enumerate(ids):
        # a query may be called NA in a text
        if qid == "" if isinstance(qid, str) else str(qid) in MISSING:
            raise DataError(f"{at(row)}: found no query id, expected one in each row")
    return as_query_ids(np.array(ids))


def _feature(index: int, value: float) -> str:
    return f" {index}:NULL" if value != value else f" {index}:{value:.9g}"


def _word(path: Path, docid: Any) -> str:
    """Return a document's name as text; it ends at a blank where LETOR text is read."""
    text = "" if docid is None else str(docid)
    if len(text.split()) != 1 or text != text.strip() or not text.isprintable():
        raise DataError(f"{path}: found the document's name {text!r}, expected one word")
    return text


def _parquet(path: Path) -> pd.DataFrame | None:
    """Return the table of a Parquet file; None for another file."""
    with path.open("rb") as file:
        if path.suffix.lower() != ".parquet" and file.read(4) != b"PAR1":
            return None
    import pandas as pd

    try:
        return pd.read_parquet(path)
    except ImportError:
        raise DataError(
            f"{path}: found Parquet, which needs a package; "
            "`python -m pip install 'letorbench[parquet]'` brings it"
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None


def _cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a text, each after its place; DataError where their lengths differ."""
    width = 0
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            start = file.readline()
            separator = "\t" if "\t" in start else "," if "," in start else " "
            file.seek(0)
            # any number of blanks parts cells
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
    if not width:
        raise DataError(f"{path}: no table: found an empty file, expected rows")


def _all_numbers(cells: list[str]) -> bool:
    try:
        return bool(np.isfinite([float(cell or 0) for cell in cells]).all())
    except ValueError:
        return False


def _described(path: Path, n_columns: int, others: Beside) -> _Roles:
    """Return what the columns without names are, by the files beside."""
    if others.description is not None:
        described = read_description(others.description, n_columns, path)
        numbers = {column.role: number for number, column in enumerate(described)}
        features = [number for number, each in enumerate(described) if each.role == "feature"]
        names = tuple(described[number].name or str(k) for k, number in enumerate(features))
        if "qid" not in numbers and others.sizes is None:
            raise DataError(f"{others.description}: found no column of type GroupId, expected 1")
        return _Roles(
            numbers["label"],
            features,
            numbers.get("qid"),
            numbers.get("docid"),
            names if any(described[number].name for number in features) else None,
            f"columns as {others.description.name} describes them (CatBoost)",
            tuple(each.type for each in described if each.role == "ignored"),
        )
    if others.sizes is None:
        raise DataError(
            f"{path}:1: found numbers only, expected the columns' names, or {path.name}.query, "
            f"{path.name}.group or {path.stem}.cd beside the file"
        )
    layout = f"columns of numbers, the first the label, queries by {others.sizes.suffix}"
    return _Roles(0, range(1, n_columns), layout=layout)


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
    chosen = tuple(columns.features or [name for name in names if name not in special])
    return _Roles(
        names.index(columns.label),
        [names.index(name) for name in chosen],
        None if sizes else names.index(columns.qid),
        names.index(columns.docid) if columns.docid else None,
        chosen,
        f"a table, queries by {sizes.suffix}" if sizes else "",
    )
