"""Tables, of text (CSV, TSV, numbers in columns) or Parquet, as rows of LETOR text."""

from __future__ import annotations

import csv
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets.arrays import LARGEST_FLOAT32, as_query_ids
from letorbench.datasets.text.encodings import check_encoding
from letorbench.datasets.user_data.beside import (
    TYPES,
    Beside,
    beside,
    read_description,
    read_sizes,
    read_weights,
)
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
    """Which column of a table is what; the features are all other columns by default."""

    label: str = "label"
    qid: str = "qid"
    docid: str | None = None
    features: Sequence[str] | None = None
    weight: str | None = None


def table_rows(path: Path, columns: Columns) -> Rows:
    """Read a table.

    A text's first line has the names of the columns, or CatBoost's description beside the file
    says what they are, or there are numbers only, the label first, and the sizes of the queries
    beside the file. A missing value of a feature becomes NULL. A value is rounded to float32, as
    everything that letorbench reads, and written so that it reads back exactly.
    """
    others, frame = beside(path), _parquet(path)
    layout, ignored = "", list[str]()
    if frame is None:
        frame = _text(path)
        first = frame.iloc[0].tolist()
        if columns.label in first or not (others.description or _all_numbers(first)):
            frame = frame[1:].set_axis(first, axis=1)
        elif others.description is not None:
            layout = f"columns as {others.description.name} describes them (CatBoost)"
            frame, columns, unused = _described(path, frame, others)
            ignored += unused
        elif others.sizes is not None:
            layout = "columns of numbers, the first the label"
            frame.columns, columns = frame.columns.map(str), Columns("0", "")
        else:
            raise DataError(
                f"{path}:1: found numbers only, expected the columns' names, or {path.name}.query, "
                f"{path.name}.group or {path.stem}.cd beside the file"
            )
    called: tuple[str, ...] = ()
    sizes = others.sizes if columns.qid not in frame else None
    features = _features(path, list(frame), columns, sizes is None)
    if frame.empty:
        raise DataError(f"{path}: found no rows, expected at least 1")

    def numbers(name: str, expected: str) -> np.ndarray:
        return _numbers(frame[name].to_numpy(), lambda row: at(row, name), expected)

    def at(row: int, name: str = columns.label) -> str:
        return f"{frame.index[row]}: column {name!r}"

    labels = numbers(columns.label, "numbers")
    weights = read_weights(others.weights)
    if columns.weight is not None:
        weights = numbers(columns.weight, "weights")
    hint = "numbers (--columns names the columns to use)"
    values = np.column_stack([numbers(name, hint) for name in features])
    with np.errstate(over="ignore"):
        rounded = values.astype(np.float32)
    for row, column in np.argwhere(np.isinf(rounded)):
        raise DataError(
            f"{at(row, features[column])}: found {values[row, column]:g}, expected a number "
            f"of at most {LARGEST_FLOAT32:.3g} in size"
        )
    texts = ["".join(map(_feature, range(1, len(row) + 1), row)) for row in rounded.tolist()]
    if columns.docid is not None:
        docids = (_word(path, cell) for cell in frame[columns.docid])
        texts = [f"{text} #docid = {docid}" for text, docid in zip(texts, docids)]
    if sizes is not None:
        queries = read_sizes(sizes, len(texts), path)
        layout = f"{layout or 'a table'}, queries by {sizes.suffix}"
    else:
        queries = _queries(frame[columns.qid].to_numpy(), lambda row: at(row, columns.qid))
        if not all(each.isprintable() and not set(each) & set(" #") for each in set(queries)):
            called = tuple(dict.fromkeys(queries.tolist()))
            order = {qid: number for number, qid in enumerate(called, 1)}
            queries = np.array([order[qid] for qid in queries.tolist()])
            why = "queries are numbered, as an id has a blank or a #"
            layout = f"{layout or 'a table'}; {why}"
    names = None if all(map(str.isdigit, features)) else tuple(features)
    at_queries = called, weights
    return Rows(path.name, labels, queries, texts, at, layout, tuple(ignored), names, *at_queries)


def _features(path: Path, names: list[str], columns: Columns, by_qid: bool) -> list[str]:
    """Return the columns of features; the columns that are named must be there."""
    special = [columns.label, *([columns.qid] if by_qid else [])]
    special += filter(None, (columns.docid, columns.weight))
    for name in (*special, *(columns.features or ())):
        require_choice(name, names, f"column of {path}")
    for name in names:
        if names.count(name) > 1:
            raise DataError(f"{path}: found the column {name!r} twice, expected each name once")
        if not name.strip() and columns.features is None:
            raise DataError(
                f"{path}: found a column without a name, which may count the rows; expected a "
                "name, or --columns"
            )
        if not name.isprintable():
            raise DataError(f"{path}: found the column {name!r}, expected a name in one line")
    features = columns.features
    features = [each for each in names if each not in special] if features is None else features
    if not features:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    return list(features)


def _numbers(cells: Sequence[Any], at: Callable[[int], str], expected: str) -> np.ndarray:
    """Return a column's numbers, 1 and 0 for true and false; float32 as its shortest decimals."""
    values = np.full(len(cells), np.nan)
    for row, cell in enumerate(cells):
        text = str(cell).strip()
        try:
            values[row] = _number(text)
        except ValueError:
            raise DataError(f"{at(row)}: found {text[:40]!r}, expected {expected}") from None
    return values


def _number(text: str) -> float:
    """Return the number of a cell, NaN of a missing one; ValueError where it is neither."""
    if text in MISSING:
        return math.nan
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    return float("not one" if "_" in text else text) if truth is None else truth


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
    shown = text.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if len(text.split()) != 1 or text != text.strip() or not shown.isprintable():
        raise DataError(f"{path}: found the document's name {text!r}, expected one word")
    return text


def _parquet(path: Path) -> pd.DataFrame | None:
    """Return the table of a Parquet file; None for another file."""
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
    places = [f"{path}: row {number}" for number in range(len(frame))]
    return frame.set_axis(places, axis=0).rename(columns=str)


def _text(path: Path) -> pd.DataFrame:
    """Return the cells of a text, each row after its place."""
    import pandas as pd

    places, rows = zip(*_cells(path))
    return pd.DataFrame(rows, places, dtype=object)


def _cells(path: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the rows of a text, each after its place; DataError where their lengths differ."""
    width = 0
    try:
        with path.open("rb") as file:
            check_encoding(path, file.read(1 << 16))
        # a document's name may be in any encoding
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            start = file.readline()
            separator = max("\t,;|", key=start.count)
            separator = separator if separator in start else " "
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
        return bool(np.isfinite([_number(cell) if cell else 0.0 for cell in cells]).all())
    except ValueError:
        return False


def _described(
    path: Path, frame: pd.DataFrame, others: Beside
) -> tuple[pd.DataFrame, Columns, list[str]]:
    """Name a table's columns by CatBoost's description of them.

    Return the table, which column is what, and the types of columns that are not used.
    """
    assert others.description is not None
    described = read_description(others.description, frame.shape[1], path)
    roles = [TYPES[kind] for kind, _ in described]
    used = [number for number, role in enumerate(roles) if role != "ignored"]
    features = (name for (_, name), role in zip(described, roles) if role == "Num")
    numbered = iter([name or str(number) for number, name in enumerate(features)])
    names = [roles[n] if roles[n] != "Num" else next(numbered) for n in used]
    for kind in ("Label",) if others.sizes else ("Label", "GroupId"):
        if kind not in names:
            raise DataError(f"{others.description}: found no column of type {kind}, expected 1")
    docid, weight = (each if each in names else None for each in ("SampleId", "GroupWeight"))
    columns = Columns("Label", "GroupId", docid, weight=weight)
    unused = [kind for kind, _ in described if TYPES[kind] == "ignored"]
    return frame[used].set_axis(names, axis=1), columns, unused
