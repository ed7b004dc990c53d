"""The documents of a user's file, the files beside it, grades of labels, and LETOR text."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from letorbench.datasets import LARGEST_GRADE
from letorbench.datasets.arrays import EXPECTED_LABEL, Grouping, as_weights, group_rows, is_label
from letorbench.datasets.layout import WEIGHTS
from letorbench.datasets.text import without_mark
from letorbench.errors import DataError, UsageError
from letorbench.named_files import input_file


class Words(tuple[str, ...]):
    """The words of a table's labels, from grade 0."""


#: the bounds between grades; none for a grade of each value; None for labels that are grades
Grades = tuple[float, ...] | Words | None
AUTO: Grades = ()
#: takes a line for the user
Note = Callable[[str], None]
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


@dataclass(frozen=True, eq=False)
class Documents:
    """The documents of a file, in its order."""

    name: str
    #: real numbers
    labels: np.ndarray
    #: the query of each document; integers if the file only separates the queries
    qids: np.ndarray
    #: (n_docs, n_features) float32, NaN for a missing value
    features: np.ndarray
    #: the place of a document's label, or of its feature of a number from 0, for messages
    place: Callable[..., str]
    docids: np.ndarray | None = None
    #: the features and the comment of each document in the file's own spelling, ` 1:0.50 #docid=X`
    words: Sequence[str] | None = None
    #: the recognised layout; empty if it needs no mention
    layout: str = ""
    #: the types of columns that are not used
    ignored: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    #: the names of the queries 1, 2, ... in the file, if they cannot be ids
    query_names: tuple[str, ...] = ()
    #: the words of columns of categories, in the order of their codes
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    #: one number a document, or one a query in the order of their first documents
    weights: np.ndarray | None = None

    @property
    def grouping(self) -> Grouping:
        return group_rows(len(self.qids), self.qids)

    @property
    def query_weights(self) -> np.ndarray | None:
        if self.weights is None:
            return None
        offsets, _, rows = self.grouping
        return as_weights(self.weights, offsets, rows, f"{self.name}: weights")


def parse_grades(text: str) -> Grades:
    """Return the bounds or the words that a text has between commas, from the lowest, or `AUTO`."""
    if text == "auto":
        return AUTO
    given = [word.strip() for word in text.split(",")]
    if len({*filter(None, given)}) == len(given) > 1 and not any(map(_is_number, given)):
        return Words(given)
    bounds = tuple(float(word) if _is_number(word) else np.nan for word in given)
    if not (np.isfinite(bounds).all() and all(a < b for a, b in pairwise(bounds))):
        raise UsageError(
            f"--grades: found {text!r}, expected auto, numbers in increasing order as 0.5,1.5, or "
            "the labels' words from the lowest as bad,good"
        )
    if len(bounds) > LARGEST_GRADE:
        raise UsageError(f"--grades: found {len(bounds)} bounds, expected at most {LARGEST_GRADE}")
    return bounds


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def graded(
    labels: np.ndarray, grades: Grades, place: Callable[[int], str]
) -> tuple[np.ndarray, list[str]]:
    """Return the grades of labels, cut as by `np.digitize`, and a line on each that was made."""
    good = is_label(labels) if grades is None else np.isfinite(labels)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        expected = EXPECTED_LABEL if grades is None else "a finite number"
        raise DataError(f"{place(row)}: found {labels[row]:g}, expected {expected}")
    if grades is None:
        return labels.astype(np.int32), []
    if isinstance(grades, Words):
        made, ranges = labels, [*grades]
    elif grades == AUTO:
        values, made = np.unique(labels, return_inverse=True)
        if len(values) > LARGEST_GRADE + 1:
            raise DataError(
                f"{place(0).rpartition(':')[0]}: found {len(values)} different labels, expected at "
                f"most {LARGEST_GRADE + 1} for --grades auto; --grades 0.5,1.5 names bounds"
            )
        ranges = [f"{value:g}" for value in values.tolist()]
    else:
        made = np.digitize(labels, grades)
        between = [f"{low:g} to below {high:g}" for low, high in pairwise(grades)]
        ranges = [f"below {grades[0]:g}", *between, f"{grades[-1]:g} or more"]
    made = made.reshape(-1).astype(np.int32)
    counts = np.bincount(made, minlength=len(ranges)).tolist()
    lines = [f"grade {r}: {range_}: {n:,}" for r, (range_, n) in enumerate(zip(ranges, counts))]
    return made, lines


def grade_parts(parts: Sequence[Documents], grades: Grades, note: Note) -> list[np.ndarray]:
    """Return the grades of each file of one data set; note the files' layouts and the grades."""
    for layout in dict.fromkeys(part.layout for part in parts if part.layout):
        alike = [part for part in parts if part.layout == layout]
        ignored = dict.fromkeys(word for part in alike for word in part.ignored)
        unused = f"; not used: {', '.join(ignored)}" if ignored else ""
        weights = ", weights of queries" * any(part.weights is not None for part in alike)
        note(f"{listed([part.name for part in alike])}: {layout}{weights}{unused}")
    ends = np.cumsum([len(part.labels) for part in parts])

    def place(row: int) -> str:
        number = int(np.searchsorted(ends, row, side="right"))
        return parts[number].place(row - int(ends[number]) + len(parts[number].labels))

    made, ranges = graded(np.concatenate([part.labels for part in parts]), grades, place)
    for line in ranges:
        note(line)
    return np.split(made, ends[:-1])


def query_counts(parts: Sequence[Documents]) -> list[int]:
    """Return how many queries are numbered before each part, as each file counts from 1."""
    highest = [int(part.qids.max()) if part.qids.dtype.kind == "i" else 0 for part in parts]
    return np.cumsum([0, *highest]).tolist()[:-1]


def listed(names: Sequence[str]) -> str:
    """Return names with commas, many as the first and the last."""
    return ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]}"


def letor_text(part: Documents, grades: np.ndarray, before: int, note: Note) -> Iterator[bytes]:
    """Yield the LETOR text of each query, `before` added to the queries' numbers."""
    offsets, names, rows = part.grouping
    if rows is None:
        rows = np.arange(len(grades))
    else:
        breaks = np.append(True, np.diff(rows) != 1)
        scattered = np.count_nonzero(np.add.reduceat(breaks, offsets[:-1]) > 1)
        note(f"{part.name}: scattered queries, now together: {scattered:,} of {len(names):,}")
    qids = part.qids + before if part.qids.dtype.kind == "i" else part.qids
    form = "".join(f" {index}:%.9g" for index in range(1, part.features.shape[1] + 1))
    for start, stop in pairwise(offsets.tolist()):
        lines = []
        for row in rows[start:stop].tolist():
            if part.words is not None:
                words = part.words[row].encode("utf-8", "surrogateescape")
            else:
                # nine digits read back as the same float32
                text = form % tuple(part.features[row].tolist())
                docid = b"" if part.docids is None else b" #docid = " + part.docids[row]
                words = text.replace(":nan", ":NULL").encode() + docid
            lines.append(f"{grades[row]} qid:{qids[row]}".encode() + words + b"\n")
        yield b"".join(lines)


class SidecarFiles(NamedTuple):
    """The files beside a file of documents; None for one that does not exist."""

    sizes: Path | None
    weights: Path | None
    description: Path | None

    @property
    def explain_columns(self) -> bool:
        return bool(self.sizes or self.description)


def sidecar_files(path: Path) -> SidecarFiles:
    """Find the files beside one by their names, in any case, each perhaps compressed."""
    folder = Path(path.parent)  # of a compressed file's copy that is a copy, too
    # macOS keeps attributes of NAME in ._NAME
    files = [each for each in sorted(folder.iterdir()) if not each.name.startswith("._")]
    existing = {_PACKED.sub("", each.name.lower()): each for each in files[::-1] if each.is_file()}
    name = _PACKED.sub("", path.name.lower())
    # the only description in a folder is of all its files
    described = [each for each in existing if each.endswith(DESCRIPTION)]
    chosen = [name + DESCRIPTION, Path(name).stem + DESCRIPTION]
    chosen += described if len(described) == 1 else []
    return SidecarFiles(
        next((existing[name + end] for end in SIZES if name + end in existing), None),
        existing.get(name + WEIGHTS),
        next((existing[each] for each in chosen if each in existing), None),
    )


def read_sizes(path: Path, n_rows: int, of: Path) -> np.ndarray:
    """Return the number from 1 of each row's query, from lines of query sizes."""

    def size(line: str) -> int:
        if not (line.isascii() and line.isdigit() and len(line) <= 18 and int(line)):
            raise ValueError
        return int(line)

    sizes = _numbers(path, size, "a query's number of rows, at least 1")
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
    """Return the numbers of a file of weights, one a line; None for no file."""
    return None if path is None else np.array(_numbers(path, float, "a weight"))


def _numbers(path: Path, parse: Callable[[str], float], expected: str) -> list[Any]:
    numbers = []
    for number, line in _lines(path):
        try:
            numbers.append(parse(line))
        except ValueError:
            found = f"found {line[:40]!r}, expected {expected}"
            raise DataError(f"{path}:{number}: {found}") from None
    return numbers


def read_description(path: Path, n_columns: int, of: Path) -> list[tuple[str, str]]:
    """Return CatBoost's type and name of each column; others are features without a name."""
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
