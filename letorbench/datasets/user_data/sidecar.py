"""The files beside one of documents: sizes of queries, weights, a description of the columns."""

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import as_weights
from letorbench.datasets.layout import WEIGHTS
from letorbench.datasets.text.encodings import without_mark
from letorbench.errors import DataError
from letorbench.named_files import input_file

#: the endings of files with the sizes of the queries: LightGBM's and XGBoost's
SIZES = (".query", ".group")
DESCRIPTION = ".cd"
_PACKED = re.compile(r"\.(gz|bz2|xz|zst)\b")
ENDINGS = (*SIZES, WEIGHTS, DESCRIPTION)
#: CatBoost's types of columns, its earlier names among them, and the roles of such columns here
ROLES = {
    "Label": "Label", "Target": "Label", "GroupId": "GroupId", "QueryId": "GroupId",
    "SampleId": "SampleId", "DocId": "SampleId", "Num": "Num", "GroupWeight": "GroupWeight",
    **dict.fromkeys(["Auxiliary", "Weight", "Baseline", "SubgroupId", "Timestamp",
                     "Position"], "ignored"),
}  # fmt: skip


@dataclass(frozen=True)
class SidecarFiles:
    """The files beside a file of documents; None for one that does not exist."""

    sizes: Path | None
    weights: Path | None
    description: Path | None

    @property
    def explain_columns(self) -> bool:
        """Whether the file is a table without names, whose columns these files explain."""
        return bool(self.sizes or self.description)


def sidecar_files(path: Path) -> SidecarFiles:
    """Find the files beside one by their names, in any case, each perhaps compressed.

    The only description in the folder describes all of its files.
    """
    folder = Path(path.parent)  # of a compressed file's copy that is a copy, too
    # macOS keeps attributes of NAME in ._NAME
    files = [each for each in sorted(folder.iterdir()) if not each.name.startswith("._")]
    existing = {_PACKED.sub("", each.name.lower()): each for each in files[::-1] if each.is_file()}
    name = _PACKED.sub("", path.name.lower())
    described = [each for each in existing if each.endswith(DESCRIPTION)]
    chosen = [name + DESCRIPTION, Path(name).stem + DESCRIPTION]
    chosen += described if len(described) == 1 else []
    return SidecarFiles(
        next((existing[name + end] for end in SIZES if name + end in existing), None),
        existing.get(name + WEIGHTS),
        next((existing[each] for each in chosen if each in existing), None),
    )


def read_sizes(path: Path, n_rows: int, of: Path) -> np.ndarray:
    """Return the number from 1 of each row's query, from one size of a query a line."""
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


def weights_beside(path: Path, offsets: np.ndarray) -> np.ndarray | None:
    """Return the weights of a file's queries, (n_queries,), from a file beside it."""
    weights = read_weights(sidecar_files(path).weights)
    return None if weights is None else as_weights(weights, offsets, what=f"{path}{WEIGHTS}")


def read_weights(path: Path | None) -> np.ndarray | None:
    """Return the numbers of a file of weights, one a line."""
    if path is None:
        return None
    weights = []
    for number, line in _lines(path):
        try:
            weights.append(float(line))
        except ValueError:
            raise DataError(f"{path}:{number}: found {line[:40]!r}, expected a weight") from None
    return np.array(weights)


def read_description(path: Path, n_columns: int, of: Path) -> list[tuple[str, str]]:
    """Return the type and the name of each column, from CatBoost's description.

    The columns that it leaves out are features without a name.
    """
    columns: dict[int, tuple[str, str]] = {}
    for number, line in _lines(path):
        index, kind, name = (word.strip() for word in (line + "\t\t").split("\t", 2))
        if not index.isdecimal() or int(index[:9]) >= n_columns or int(index) in columns:
            raise DataError(
                f"{path}:{number}: found column {index[:40]!r}, expected another number from 0 to "
                f"{n_columns - 1}, the columns of {of.name}, and a tab"
            )
        if kind not in ROLES:
            raise DataError(
                f"{path}:{number}: found column {index} {name!r} of type {kind}, expected one of "
                f"{', '.join(ROLES)}; the type Auxiliary leaves the column out"
            )
        columns[int(index)] = kind, name
    return [columns.get(index, ("Num", "")) for index in range(n_columns)]


def _lines(path: Path) -> list[tuple[int, str]]:
    """Return the lines that are not blank, with their numbers."""
    try:
        text = without_mark(path, input_file(path).read_bytes()).decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"{path}: cannot be read as text: {error}") from None
    lines = [(n, line.strip()) for n, line in enumerate(text.split("\n"), 1) if line.strip()]
    if not lines:
        raise DataError(f"{path}: found an empty file, expected lines")
    return lines
