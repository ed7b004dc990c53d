"""What stands beside a file of documents: sizes of queries, weights, a description of columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.choices import require_choice
from letorbench.errors import DataError, UsageError

#: what the names of files with the sizes of the queries end in: LightGBM's and XGBoost's
SIZES = (".query", ".group")
WEIGHTS = ".weight"
DESCRIPTION = ".cd"
ENDINGS = (*SIZES, WEIGHTS, DESCRIPTION)

#: CatBoost's types of columns, its earlier names among them, and what they are here
_ROLES = {
    "Label": "label", "Target": "label", "GroupId": "qid", "QueryId": "qid",
    "SampleId": "docid", "DocId": "docid", "Num": "feature", "Auxiliary": "",
    "Weight": "ignored", "GroupWeight": "ignored", "Baseline": "ignored",
    "SubgroupId": "ignored", "Timestamp": "ignored", "Position": "ignored",
    "Categ": "refused", "Text": "refused", "NumVector": "refused",
}  # fmt: skip


@dataclass(frozen=True)
class Beside:
    """The files beside one; None where there is none."""

    sizes: Path | None
    weights: Path | None
    description: Path | None


@dataclass(frozen=True)
class Column:
    """What a description says of a column: its role here, CatBoost's type, and its name."""

    role: str
    type: str
    name: str


def beside(path: Path) -> Beside:
    """Find the files beside one by their names, in any case.

    A description may be of all files of the folder, where it is the only one.
    """
    there = {each.name.lower(): each for each in sorted(path.parent.iterdir()) if each.is_file()}
    name = path.name.lower()
    described = [each for each in there if each.endswith(DESCRIPTION)]
    chosen = [name + DESCRIPTION, Path(name).stem + DESCRIPTION]
    return Beside(
        next((there[name + end] for end in SIZES if name + end in there), None),
        there.get(name + WEIGHTS),
        next(
            (there[each] for each in chosen if each in there),
            there[described[0]] if len(described) == 1 else None,
        ),
    )


def read_sizes(path: Path, n_rows: int, of: Path) -> np.ndarray:
    """Return the query of each row of the file `of`, counted from 1.

    The file has each query's number of rows, one a line. DataError where they are not numbers of
    rows, or do not add up.
    """
    sizes = []
    for number, line in _lines(path):
        if not (line.isascii() and line.isdigit()) or len(line) > 18 or int(line) == 0:
            raise DataError(
                f"{path}:{number}: found {line[:40]!r}, expected a query's number of rows, at "
                "least 1"
            )
        sizes.append(int(line))
    if sum(sizes) != n_rows:
        raise DataError(
            f"{path}: found {len(sizes):,} queries of {sum(sizes):,} rows in all, expected "
            f"{n_rows:,}, the rows of {of.name}"
        )
    return np.repeat(np.arange(1, len(sizes) + 1), sizes)


def read_description(path: Path, n_columns: int, of: Path) -> list[Column]:
    """Return what CatBoost's description says of each column; those it leaves out are features."""
    columns: dict[int, Column] = {}
    for number, line in _lines(path):
        index, _, rest = line.partition("\t")
        kind, _, name = (word.strip() for word in rest.partition("\t"))
        where = f"{path}:{number}"
        if not (index.isascii() and index.isdigit()) or int(index[:9]) >= n_columns:
            raise DataError(
                f"{where}: found column {index[:40]!r}, expected a number from 0 to "
                f"{n_columns - 1}, the columns of {of.name}, and a tab"
            )
        if int(index) in columns:
            raise DataError(f"{where}: found column {index} twice, expected each once")
        try:
            role = _ROLES[require_choice(kind, list(_ROLES), "type of column")]
        except UsageError as error:
            raise DataError(f"{where}: {error}") from None
        if role == "refused":
            raise DataError(
                f"{where}: found column {index} {name!r} of type {kind}, expected numbers; the "
                "type Auxiliary leaves the column out"
            )
        columns[int(index)] = Column(role, kind, name)
    described = [columns.get(index, Column("feature", "Num", "")) for index in range(n_columns)]
    for role, kind in (("label", "Label"), ("qid", "GroupId"), ("docid", "SampleId")):
        count = sum(column.role == role for column in described)
        if count > 1 or (role == "label" and not count):
            raise DataError(f"{path}: found {count} columns of type {kind}, expected 1")
    return described


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from None
    lines = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        of = "column" if path.name.lower().endswith(DESCRIPTION) else "query"
        raise DataError(f"{path}: found an empty file, expected a line for each {of}")
    return lines
