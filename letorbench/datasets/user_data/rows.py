"""Documents of any layout, the grades made of their labels, and the LETOR text they become."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np

from letorbench.datasets.arrays import EXPECTED_LABEL, as_weights, group_rows, is_label
from letorbench.datasets.layout import FEATURE_NAMES, QUERY_NAMES, WEIGHTS, Layout
from letorbench.datasets.limits import LARGEST_GRADE, UNJUDGED
from letorbench.errors import DataError, UsageError
from letorbench.files import write_atomically

#: the bounds between grades; none for a grade of each value; None for labels that are grades
Grades = tuple[float, ...] | None
AUTO: Grades = ()
#: takes a line for the user
Tell = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class Rows:
    """The documents of a file, in its order."""

    name: str
    #: real numbers
    labels: np.ndarray
    #: the query of each document; integers where the file only tells queries apart
    qids: np.ndarray
    #: the features and the document's name as LETOR text, ` 1:0.5 #docid = X`
    texts: list[str]
    #: where the label of a row stands, for messages
    place: Callable[[int], str]
    #: what the file was taken for; empty where that needs no word
    layout: str = ""
    #: what stands in it or beside it and is not used
    ignored: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    #: what the file calls its queries, where an id cannot be so: that of the number 1 first
    query_names: tuple[str, ...] = ()
    #: what queries weigh: one number a row, or one a query in the order of their first rows
    weights: np.ndarray | None = None

    @property
    def query_weights(self) -> np.ndarray | None:
        """The weight of each query, in the order of `letor_lines`."""
        if self.weights is None:
            return None
        offsets, _, rows = group_rows(len(self.qids), self.qids)
        return as_weights(self.weights, offsets, rows, f"{self.name}: weights")


def parse_grades(text: str) -> Grades:
    """Return the bounds that a text has between commas, in increasing order, or `AUTO`.

    Examples
    --------
    >>> parse_grades("0.5,1.5"), parse_grades("auto")
    ((0.5, 1.5), ())
    """
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
    only labels as they are read from LETOR text. `place` says where the label of a row stands.
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


def letor_lines(parts: Sequence[Rows], grades: Grades, tell: Tell) -> list[list[bytes]]:
    """Return the LETOR text of each query of each file of one data set.

    `tell` takes a line on what the files were taken for and on what was done.
    """
    for layout in dict.fromkeys(rows.layout for rows in parts if rows.layout):
        alike = [rows for rows in parts if rows.layout == layout]
        ignored = dict.fromkeys(word for rows in alike for word in rows.ignored)
        unused = f"; not used: {', '.join(ignored)}" if ignored else ""
        weights = ", weights of queries" * any(rows.weights is not None for rows in alike)
        tell(f"{listed([rows.name for rows in alike])}: {layout}{weights}{unused}")
    ends = np.cumsum([len(rows.labels) for rows in parts])

    def place(row: int) -> str:
        part = int(np.searchsorted(ends, row, side="right"))
        return parts[part].place(row - int(ends[part]) + len(parts[part].labels))

    made, ranges = graded(np.concatenate([rows.labels for rows in parts]), grades, place)
    for line in ranges:
        tell(line)
    return [
        _together(
            rows, labels, rows.qids + before if rows.qids.dtype.kind == "i" else rows.qids, tell
        )
        for rows, before, labels in zip(parts, _counted(parts), np.split(made, ends[:-1]))
    ]


def _counted(parts: Sequence[Rows]) -> list[int]:
    """Return how many queries are numbered before each part: a number means another one in each."""
    highest = [int(rows.qids.max()) if rows.qids.dtype.kind == "i" else 0 for rows in parts]
    return np.cumsum([0, *highest]).tolist()[:-1]


def listed(names: Sequence[str]) -> str:
    """Return names with commas, many as the first and the last."""
    return ", ".join(names) if len(names) < 4 else f"{names[0]} to {names[-1]}"


def write_weights(text: Path, weights: np.ndarray | None) -> None:
    """Write the weights of a file's queries beside it, one a line, where there are any."""
    if weights is not None:
        with write_atomically(text.with_name(text.name + WEIGHTS)) as file:
            file.writelines(f"{weight!r}\n" for weight in weights.tolist())


def write_names(folder: Path, parts: Sequence[Rows]) -> None:
    """Write the names of features and queries beside the folds, where there are names."""
    names = parts[0].feature_names
    if any(rows.feature_names != names for rows in parts):
        raise DataError(f"{parts[0].name}: found other columns than in the other parts")
    if names is not None:
        with write_atomically(folder / FEATURE_NAMES) as file:
            file.writelines(f"{name}\n" for name in names)
    queries = [
        f"{number}\t{' '.join(name.split())}\n".encode("utf-8", "surrogateescape")
        for rows, before in zip(parts, _counted(parts))
        for number, name in enumerate(rows.query_names, before + 1)
    ]
    if queries:
        with write_atomically(folder / QUERY_NAMES, binary=True) as file:
            file.writelines(queries)


def tell_unjudged(found: Layout, tell: Tell) -> None:
    """Count the documents of the first fold that are not judged, where there are such."""
    documents = unjudged = 0
    for path in found.folds[0].files:
        with path.open("rb") as lines:
            starts = (line.partition(b"#")[0].split(None, 1)[:1] for line in lines)
            for (label,) in filter(None, starts):
                documents += 1
                unjudged += label == b"%d" % UNJUDGED
    if unjudged:
        where = f"{found.name.label}, fold {found.folds[0].number}"
        tell(f"{where}: {unjudged:,} of {documents:,} documents are not judged (label {UNJUDGED})")


def _together(rows: Rows, labels: np.ndarray, qids: np.ndarray, tell: Tell) -> list[bytes]:
    try:
        offsets, names, order = group_rows(len(qids), qids)
    except DataError as error:
        raise DataError(f"{rows.name}: {error}") from None
    if order is None:
        order = np.arange(len(qids))
    else:
        breaks = np.append(True, np.diff(order) != 1)
        scattered = np.count_nonzero(np.add.reduceat(breaks, offsets[:-1]) > 1)
        tell(f"{rows.name}: scattered queries, now together: {scattered:,} of {len(names):,}")
    lines = [
        f"{label} qid:{qid}{rows.texts[row]}".encode("utf-8", "surrogateescape")
        for row, label, qid in zip(
            order.tolist(), labels[order].tolist(), qids[order].tolist(), strict=True
        )
    ]
    return text_of_queries(lines, offsets)


def text_of_queries(lines: Sequence[bytes], offsets: np.ndarray) -> list[bytes]:
    """Return the text of each query, whose lines stand together."""
    return [b"".join(line + b"\n" for line in lines[a:b]) for a, b in pairwise(offsets)]
