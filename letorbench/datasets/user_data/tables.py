"""Tables as documents: text (CSV, TSV, numbers in columns), Parquet, Feather or JSON."""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import chain, islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from letorbench.choices import require_choice
from letorbench.datasets import LONGEST_QID
from letorbench.datasets.arrays import LARGEST_FLOAT32, as_query_ids, word_grades
from letorbench.datasets.text import check_encoding
from letorbench.datasets.user_data import (
    ROLES,
    Documents,
    SidecarFiles,
    read_description,
    read_sizes,
    read_weights,
    sidecar_files,
)
from letorbench.errors import DataError, UsageError

#: the spellings of a missing value: those that pandas knows, Excel's among them, and MySQL's
MISSING = frozenset(
    ["", "NA", "N/A", "n/a", "NaN", "nan", "NULL", "null", "None", "-NaN", "-nan", "NaT", "<NA>",
     "#N/A", "#N/A N/A", "#NA", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN", "\\N"]
)  # fmt: skip
#: a column with the documents' names, unless an option says otherwise
DOCID = "docid"
#: the endings of what pandas reads, and how such files begin
BINARY = {".parquet": b"PAR1", ".feather": b"ARROW1"}
JSON = (".jsonl", ".ndjson", ".json")
#: a column without a name, which pandas calls so when it reads its own row numbers
_UNNAMED = re.compile(r"(\s*|Unnamed: \d+)")
#: lines above the names: a comment, the separator as Excel wants it, or nothing
_ABOVE = re.compile(r"\s*(#|sep=.?\s*$|$)", re.IGNORECASE)
#: the words of a column that become features each
MOST_WORDS = 1_000
#: the rows of a text that become numbers at a time
_ROWS = 1 << 12


@dataclass(frozen=True)
class Columns:
    """The columns of a table by their roles; the features are all other columns by default."""

    label: str = "label"
    qid: str = "qid"
    docid: str | None = None
    features: Sequence[str] | None = None
    weight: str | None = None
    #: the columns of words, and the words in the order of their codes; None: those of the file
    categories: Mapping[str, Sequence[str] | None] = field(default_factory=dict)
    #: those of them of which each word is a feature that is 0 or 1
    one_hot: Collection[str] = ()
    #: the files that words are from
    files: Sequence[Path] = ()
    #: whether the labels are read; if not, a column called `label` may be missing
    labelled: bool = True

    def check_unnamed(self, path: Path, found: str) -> None:
        """Raise DataError if options name columns of a file in which columns have no names."""
        named = {
            "--label": self.label != Columns.label, "--qid": self.qid != Columns.qid,
            "--docid": self.docid, "--columns": self.features, "--weight": self.weight,
            "--categories, --one-hot": self.categories and not self.files,
        }  # fmt: skip
        if options := ", ".join(option for option, given in named.items() if given):
            raise DataError(f"{path}: found {found}, expected a table with names ({options})")


def read_categories(path: Path) -> dict[str, list[str]]:
    """Read the words of columns in the order of their codes, as `split` writes them."""
    words = dict[str, list[str]]()
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = [*csv.reader(file, strict=True)]
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(f"{path}: found no table ({error}), expected lines column,word") from None
    for line, cells in enumerate(rows, 1):
        if len(cells) != 2 or cells[1] in words.setdefault(cells[0], []):
            found = f"{','.join(cells)[:40]!r}"
            raise DataError(f"{path}:{line}: found {found}, expected column,word, each once")
        words[cells[0]].append(cells[1])
    return words


@dataclass(frozen=True, eq=False)
class _Block:
    """Some rows of a table: their line or row numbers, and the cells of each column."""

    where: str
    numbers: Sequence[int]
    cells: Mapping[str, Sequence[Any]]

    def place(self, row: int, column: str) -> str:
        return f"{self.where}{self.numbers[row]}: column {column!r}"

    def column(self, name: str, expected: str) -> np.ndarray:
        """Return a column's numbers as float64, 1 and 0 for true and false."""
        cells = self.cells[name]
        if isinstance(cells, np.ndarray) and cells.dtype.kind in "biuf":
            return cells.astype(np.float64)
        with suppress(ValueError, TypeError):  # a cell may be missing, or of another type
            if "_" not in "".join(cells):
                return np.fromiter(map(float, cells), np.float64, len(cells))
        values = np.empty(len(cells))
        for row, cell in enumerate(cells):
            text = str(cell).strip()
            try:
                values[row] = _number(text)
            except ValueError:
                found = f"found {text[:40]!r}, expected {expected}"
                raise DataError(f"{self.place(row, name)}: {found}") from None
        return values

    def labels(self, columns: Columns, grades: Sequence[str]) -> np.ndarray:
        """Return the labels as float64, the places of words among `grades`."""
        name = columns.label
        if not columns.labelled:
            return np.zeros(len(self.numbers))
        if not grades:
            return self.column(name, "numbers (--grades bad,good names words, the lowest first)")
        words = map(_word, self.cells[name])
        return word_grades(words, grades, lambda row: self.place(row, name))

    def codes(self, name: str, seen: dict[str, int]) -> list[float]:
        """Return the number of each word among those seen, which grow; NaN for a missing one."""
        words = map(_word, self.cells[name])
        return [math.nan if word in MISSING else seen.setdefault(word, len(seen)) for word in words]

    def matrix(self, names: Sequence[str], seen: Mapping[str, dict[str, int]]) -> np.ndarray:
        """Return the features, rounded to float32 as everything that letorbench reads."""
        hint = "numbers (--columns names the columns to use, --categories those of words)"
        exact = np.column_stack(
            [
                self.codes(name, seen[name]) if name in seen else self.column(name, hint)
                for name in names
            ]
        )
        with np.errstate(over="ignore"):
            rounded = exact.astype(np.float32)
        for row, column in np.argwhere(np.isinf(rounded)):
            raise DataError(
                f"{self.place(row, names[column])}: found {exact[row, column]:g}, expected a "
                f"number of at most {LARGEST_FLOAT32:.3g} in size"
            )
        return rounded

    def ids(self, name: str) -> list[str]:
        """Return query ids without blanks around them."""
        ids = [*map(_word, self.cells[name])]
        for row, qid in enumerate(ids):
            if not qid:  # one may be called NA in a text
                where = self.place(row, name)
                raise DataError(f"{where}: found no query id, expected one in each row")
        return ids

    def docids(self, name: str) -> list[bytes]:
        """Return the documents' names, which end at a blank in LETOR text."""
        docids = list[bytes]()
        for row, text in enumerate(map(_word, self.cells[name])):
            docids.append(text.encode("utf-8", "surrogateescape"))
            if len(text.split()) != 1 or not docids[-1].decode(errors="replace").isprintable():
                where = self.place(row, name)
                raise DataError(f"{where}: found the name {text[:40]!r}, expected one word")
        return docids


class _Table(NamedTuple):
    """A table whose columns have names and roles."""

    #: the path, and the words before a row's number
    where: str
    #: None for a column that is not used
    names: list[str | None]
    columns: Columns
    #: row numbers and the cells of each column, some rows at a time
    rows: Iterator[tuple[Sequence[int], list[Sequence[Any]]]]
    layout: str = ""
    ignored: tuple[str, ...] = ()


def read_table(path: Path, columns: Columns, grades: Sequence[str] = ()) -> Documents:
    """Read a table, with the files beside it that explain a text without names.

    Labels that are words are numbered by `grades`.
    """
    sidecar = sidecar_files(path)
    named_qid = columns.qid != Columns.qid
    where, names, columns, rows, layout, ignored = _by_pandas(path, columns) or _text(
        path, columns, sidecar, grades
    )
    named = [each for each in names if each is not None]
    if columns.features is None and any(map(_UNNAMED.fullmatch, named)):
        layout, ignored = layout or "a table", (*ignored, "a column without a name")
    taken = columns.docid or columns.features is not None or DOCID in columns.categories
    if DOCID in named and not taken:
        columns = replace(columns, docid=DOCID)
    sizes = None if named_qid or columns.qid in names else sidecar.sizes
    features = _features(path, named, columns, sizes is None)
    seen: dict[str, dict[str, int]] = {name: {} for name in columns.categories if name in features}
    lines, labels, weights, matrices = list[int](), [], [], []
    docids, ids = list[bytes](), list[str]()
    for numbers, cells in rows:
        used = {name: column for name, column in zip(names, cells) if name is not None}
        block = _Block(where, numbers, used)
        lines += numbers
        labels.append(block.labels(columns, grades))
        matrices.append(block.matrix(features, seen))
        if columns.weight is not None:
            weights.append(block.column(columns.weight, "weights"))
        if columns.docid is not None:
            docids += block.docids(columns.docid)
        if sizes is None:
            ids += block.ids(columns.qid)
    if not lines:
        raise DataError(f"{path}: found no rows, expected at least 1")
    order: dict[str, int] = {}
    if sizes is not None:
        qids = read_sizes(sizes, len(lines), path)
        layout = f"{layout or 'a table'}, queries by {sizes.suffix}"
    else:
        qids = as_query_ids(np.array(ids))
        if not all(map(_is_letor_id, set(qids.tolist()))):
            order = {qid: number for number, qid in enumerate(dict.fromkeys(qids.tolist()), 1)}
            qids = np.array([order[qid] for qid in qids.tolist()])
            why = "queries are numbered, as an id has a blank or a #"
            layout = f"{layout or 'a table'}; {why}"
    matrix, features, words = _coded(path, np.concatenate(matrices), features, columns, seen)
    roles = [*features, columns.label]
    return Documents(
        path.name,
        np.concatenate(labels),
        qids,
        matrix,
        lambda row, feature=-1: f"{where}{lines[row]}: column {roles[feature]!r}",
        np.array(docids) if docids else None,
        layout=layout,
        ignored=ignored,
        feature_names=None if all(map(str.isdigit, features)) else tuple(features),
        query_names=tuple(order),
        categories=words,
        weights=np.concatenate(weights) if weights else read_weights(sidecar.weights),
    )


def has_roles(path: Path) -> bool:
    """Return whether a table has the default names of label and query; DataError names others."""
    columns = Columns()
    table = _by_pandas(path, columns) or _text(path, columns, SidecarFiles(None, None, None))
    names = [name for name in table.names if name is not None]
    if not {columns.label, columns.qid} <= set(names):
        raise DataError(
            f"{path}: found the columns {', '.join(names)[:200]}, expected {columns.label} and "
            f"{columns.qid} among them (`letorbench datasets split` takes others, in one file)"
        )
    return True


def _features(path: Path, names: list[str], columns: Columns, by_qid: bool) -> list[str]:
    """Return the columns of features; the columns that are named must exist."""
    special = [columns.label, *([columns.qid] if by_qid else [])]
    special += filter(None, (columns.docid, columns.weight))
    optional = not columns.labelled and columns.label == Columns.label
    options = {columns.label: " (--label)", columns.qid: " (--qid)"}
    for name in (*special[optional:], *(columns.features or ()), *columns.categories):
        require_choice(name, names, f"column of {path}{options.get(name, '')}")
    for name in names:
        if names.count(name) > 1 and name:
            raise DataError(f"{path}: found the column {name!r} twice, expected each name once")
        if not name.isprintable():
            raise DataError(
                f"{path}: found the column {name[:40]!r}, expected a name in one line of UTF-8"
            )
    # a column without a name may count the rows
    features = columns.features
    if features is None:
        features = [each for each in names if each not in special and not _UNNAMED.fullmatch(each)]
        if all(map(str.isdecimal, features)):
            features.sort(key=int)  # LETOR's indices, also where they are sorted as texts
    if not features:
        raise DataError(f"{path}: found no features, expected at least 1 column of them")
    for name in (*features, *columns.categories):
        if name in special or features.count(name) != 1:
            raise UsageError(
                f"{path}: found the column {name!r} {features.count(name)} times as a feature"
                f"{' and in another role' * (name in special)}, expected it once"
            )
    return list(features)


def _coded(
    path: Path,
    matrix: np.ndarray,
    features: list[str],
    columns: Columns,
    seen: Mapping[str, Mapping[str, int]],
) -> tuple[np.ndarray, list[str], dict[str, Sequence[str]]]:
    """Return the matrix with the final codes, its columns' names, and the words by column."""
    made, names, words = list[np.ndarray](), list[str](), dict[str, Sequence[str]]()
    for feature, name in zip(matrix.T, features):
        if name not in seen:
            made.append(feature)
            names.append(name)
            continue
        known = columns.categories[name] or sorted(seen[name])
        for word in known:
            if not word.isprintable():
                raise DataError(
                    f"{path}: column {name!r}: found {word!r}, expected a word in UTF-8"
                )
        final = {word: code for code, word in enumerate(known)}
        # a word that a file of categories does not have is a missing value
        codes = np.array([*(final.get(word, math.nan) for word in seen[name]), math.nan])
        numbers = codes[np.where(np.isnan(feature), -1, feature).astype(np.int64)]
        if name in columns.one_hot:
            if len(known) > MOST_WORDS:
                raise DataError(
                    f"{path}: column {name!r}: found {len(known):,} words, expected at most "
                    f"{MOST_WORDS:,} for --one-hot; --categories keeps it one feature, for tree "
                    "libraries, and --columns without it leaves it out"
                )
            made += [numbers == code for code in range(len(known))]
            names += [f"{name}={word}" for word in known]
        else:
            made.append(numbers)
            names.append(name)
        words[name] = known
    if not names:
        raise DataError(f"{path}: found no words in {', '.join(features)}, expected at least 1")
    return np.column_stack(made).astype(np.float32), names, words


def _word(cell: Any) -> str:
    """Return a cell as text without blanks around it, "" for None, NaN and the like."""
    if isinstance(cell, str):
        return cell.strip()
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogateescape").strip()
    if isinstance(cell, (float, np.floating)) and cell.is_integer():
        cell = int(cell)  # pandas makes 1 to 1.0 where a value of the column is missing
    return "" if str(cell) in MISSING else str(cell)


def _number(text: str) -> float:
    """Return the number of a cell, NaN of a missing one; ValueError for anything else."""
    if text in MISSING:
        return math.nan
    truth = {"true": 1.0, "false": 0.0}.get(text.lower())
    return float("not one" if "_" in text else text) if truth is None else truth


def _is_letor_id(qid: str) -> bool:
    """Whether LETOR text can have the id of a query."""
    return qid.isprintable() and not set(qid) & set(" #") and len(qid.encode()) <= LONGEST_QID


def _by_pandas(path: Path, columns: Columns) -> _Table | None:
    """Read a file of Parquet, Feather or JSON; None for another file."""
    with path.open("rb") as file:
        start, ending = file.read(6), path.suffix.lower()
    ending = next((each for each, begun in BINARY.items() if start.startswith(begun)), ending)
    if ending not in (*BINARY, *JSON):
        return None
    import pandas as pd

    try:
        if ending in BINARY:
            frame = (pd.read_parquet if ending == ".parquet" else pd.read_feather)(path)
        else:
            rows = _json_rows(path.read_text(encoding="utf-8-sig"))
            if not rows:
                raise ValueError("found no rows")
            for row in rows:
                if not isinstance(row, dict):
                    raise ValueError(f"found {str(row)[:40]!r}, expected an object for each row")
            frame = pd.DataFrame(rows)
        # pandas keeps an index as columns
        roles = {columns.label, columns.qid, columns.docid, columns.weight}
        roles.update(columns.features or ())
        frame = frame.reset_index([name for name in frame.index.names if name and name in roles])
    except ImportError:
        raise DataError(
            f"{path}: found {ending[1:].capitalize()}, which needs a package; "
            "`python -m pip install 'letorbench[parquet]'` brings it"
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None
    cells: list[Any] = [frame.iloc[:, number].to_numpy() for number in range(frame.shape[1])]
    block = iter([(range(len(frame)), cells)])
    return _Table(f"{path}: row ", [str(name).strip() for name in frame.columns], columns, block)


def _json_rows(text: str) -> list[Any]:
    """Return the rows in JSON: a list of them, one a line, or an object of pandas' columns."""
    try:
        given = json.loads(text)
    except json.JSONDecodeError:
        if text.lstrip().startswith("["):
            raise
        given = []
        for number, line in enumerate(text.split("\n"), 1):
            try:
                given += [json.loads(line)] if line.strip() else []
            except json.JSONDecodeError as error:
                raise ValueError(f"line {number}: {error.msg}") from None
    if isinstance(given, list):
        return given
    if not isinstance(given, dict) or not all(isinstance(each, dict) for each in given.values()):
        return [given]
    rows = {row: None for cells in given.values() for row in cells}
    return [{name: cells.get(row) for name, cells in given.items()} for row in rows]


def _text(
    path: Path, columns: Columns, sidecar: SidecarFiles, grades: Sequence[str] = ()
) -> _Table:
    """Open a text whose first line has the names, or whose columns the files beside it explain."""
    rows, where = _rows(path), f"{path}:"
    number, first = next(rows)
    heads = [cell.strip() for cell in first]
    # names may be LETOR's indices, as a table of pandas without names has them
    no_names = _all_numbers(first) and not all(map(str.isdecimal, heads))
    if columns.label in heads and not no_names or not (sidecar.description or _all_numbers(first)):
        return _Table(where, [*heads], columns, _blocks(rows))
    if sidecar.description is not None:
        layout = f"columns as {sidecar.description.name} describes them (CatBoost)"
        columns.check_unnamed(path, layout)
        names, columns, ignored = _described(path, len(first), sidecar)
        cells = {name: cell for name, cell in zip(names, heads) if name is not None}
        # CatBoost's `has_header`: a row of names, which the description replaces
        label, others = cells["Label"], [cells[name] for name in columns.features or ()]
        if label in (*MISSING, *grades) or _all_numbers([label]) or _all_numbers(others):
            rows = chain([(number, first)], rows)
        return _Table(where, names, columns, _blocks(rows), layout, ignored)
    rows = chain([(number, first)], rows)
    if sidecar.sizes is None:
        raise DataError(
            f"{path}:1: found numbers only, expected the columns' names, or {path.name}.query, "
            f"{path.name}.group or {path.stem}.cd beside the file"
        )
    layout = "columns of numbers, the first the label"
    columns.check_unnamed(path, layout)
    return _Table(where, [*map(str, range(len(first)))], Columns("0", ""), _blocks(rows), layout)


def _blocks(
    rows: Iterator[tuple[int, list[str]]],
) -> Iterator[tuple[Sequence[int], list[Sequence[Any]]]]:
    while block := list(islice(rows, _ROWS)):
        numbers, cells = zip(*block)
        yield numbers, list(zip(*cells))


def _rows(path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield line number and cells of each row, at least one; DataError where lengths differ."""
    width = ended = 0
    try:
        with path.open("rb") as file:
            check_encoding(path, file.read(1 << 16))
        # a document's name may be in any encoding
        with path.open(encoding="utf-8-sig", errors="surrogateescape", newline="") as file:
            start = next((line for line in file if not _ABOVE.match(line)), "")
            separator = max("\t,;|", key=start.count)
            separator = separator if separator in start else " "
            file.seek(0)
            # any number of blanks separates cells
            lines = map(" ".join, map(str.split, file)) if separator == " " else file
            # a quote that nothing closes would take the rows behind it into its cell
            words = csv.reader(lines, delimiter=separator, strict=True)
            n_names = len(next(csv.reader([start], delimiter=separator), ()))
            # Excel ends a table with rows of empty cells
            for cells in filter(any, words):
                if not width and _ABOVE.match(cells[0]) and len(cells) != n_names:
                    continue
                width = width or len(cells)
                if len(cells) != width:
                    raise DataError(
                        f"{path}:{words.line_num}: found {len(cells)} columns, expected {width} "
                        "as in the first row"
                    )
                yield words.line_num, cells
                ended = words.line_num
    except DataError:
        raise
    except csv.Error as error:
        raise DataError(
            f"{path}:{ended + 1}: found {error}, expected quotes around whole cells, and twice "
            "inside them"
        ) from None
    except (ValueError, OSError) as error:
        raise DataError(f"{path}: no table: {' '.join(str(error).split())}") from None
    if not width:
        raise DataError(f"{path}: no table: found an empty file, expected rows")


def _all_numbers(cells: list[str]) -> bool:
    """Whether the cells are numbers or missing, at least one a number."""
    try:
        return bool(np.isfinite([*map(_number, cells)]).any())
    except ValueError:
        return False


def _described(
    path: Path, width: int, sidecar: SidecarFiles
) -> tuple[list[str | None], Columns, tuple[str, ...]]:
    """Return names by CatBoost's description, None if unused, the roles, and the unused types."""
    assert sidecar.description is not None
    described = read_description(sidecar.description, width, path)
    names, features, unused = list[str | None](), list[str](), list[str]()
    for kind, name in described:
        role = ROLES[kind]
        if role == "Num":
            features.append(name or str(len(features)))
            names.append(features[-1])
        elif role == "ignored":
            unused.append(kind)
            names.append(None)
        else:
            names.append(role)
    for kind in ("Label",) if sidecar.sizes else ("Label", "GroupId"):
        if kind not in names:
            raise DataError(f"{sidecar.description}: found no column of type {kind}, expected 1")
    docid, weight = (each if each in names else None for each in ("SampleId", "GroupWeight"))
    return names, Columns("Label", "GroupId", docid, features, weight), tuple(unused)
