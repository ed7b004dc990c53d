"""The documents of a user's file, the grades made of their labels, and their LETOR text."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from letorbench.datasets.arrays import EXPECTED_LABEL, Grouping, as_weights, group_rows, is_label
from letorbench.datasets.limits import LARGEST_GRADE
from letorbench.errors import DataError, UsageError

#: the bounds between grades; none for a grade of each value; None for labels that are grades
Grades = tuple[float, ...] | None
AUTO: Grades = ()
#: takes a line for the user
Note = Callable[[str], None]


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
    """Return the bounds that a text has between commas, in increasing order, or `AUTO`."""
    if text == "auto":
        return AUTO
    try:
        bounds = tuple(float(word) for word in text.split(","))
    except ValueError:
        bounds = (np.nan,)
    if not (np.isfinite(bounds).all() and all(a < b for a, b in pairwise(bounds))):
        raise UsageError(
            f"--grades: found {text!r}, expected auto, or numbers in increasing order as 0.5,1.5"
        )
    if len(bounds) > LARGEST_GRADE:
        raise UsageError(f"--grades: found {len(bounds)} bounds, expected at most {LARGEST_GRADE}")
    return bounds


def graded(
    labels: np.ndarray, grades: Grades, place: Callable[[int], str]
) -> tuple[np.ndarray, list[str]]:
    """Return the grades of labels, and a line on each grade that was made.

    Grade r begins with bound r and ends before the next bound, as of `np.digitize`. None accepts
    only labels as they are read from LETOR text.
    """
    good = is_label(labels) if grades is None else np.isfinite(labels)
    if not good.all():
        row = int(np.flatnonzero(~good)[0])
        expected = EXPECTED_LABEL if grades is None else "a finite number"
        raise DataError(f"{place(row)}: found {labels[row]:g}, expected {expected}")
    if grades is None:
        return labels.astype(np.int32), []
    if grades == AUTO:
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
    counts = np.bincount(made.reshape(-1), minlength=len(ranges)).tolist()
    lines = [f"grade {r}: {range_}: {n:,}" for r, (range_, n) in enumerate(zip(ranges, counts))]
    return made.reshape(-1).astype(np.int32), lines


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
    """Yield the LETOR text of each query; note how many had scattered documents.

    `before` is added to the queries' numbers.
    """
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
