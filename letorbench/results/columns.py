"""Text files with columns, and the document that each line is about."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import DataError


def columns(path: Path, names: tuple[str, ...]) -> Iterator[tuple[int, list[bytes]]]:
    """Yield the number and the cells of each line of a file with columns.

    Parameters
    ----------
    path : Path
        The file. Blanks or tabs separate its columns. Empty lines are skipped.
    names : tuple of str
        What the columns are called in error messages.

    Raises
    ------
    DataError
        A line has another number of columns, or the file has no lines.
    """
    empty = True
    for number, line in enumerate(content(path).split(b"\n"), 1):
        cells = line.split()
        if not cells:
            continue
        if b"\0" in line:
            raise DataError(f"{path}:{number}: found a zero byte, expected text")
        if len(cells) != len(names):
            raise DataError(
                f"{path}:{number}: found {len(cells)} columns, "
                f"expected {len(names)}: {' '.join(names)}"
            )
        empty = False
        yield number, cells
    if empty:
        raise DataError(f"{path}: found no lines, expected lines of {' '.join(names)}")


def content(path: Path) -> bytes:
    """Return the bytes of a file; DataError where it cannot be read."""
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: found no readable file ({error.strerror})") from None


def number(path: Path, line: int, text: bytes, kind: type = float) -> float | int:
    """Return a cell as a number; DataError for NaN, infinity and for what is no number."""
    try:
        value = kind(text)
    except ValueError:
        value = float("nan")
    if (kind is float and not math.isfinite(value)) or value != value or b"_" in text:
        what = "a whole number" if kind is int else "a finite number"
        raise DataError(f"{path}:{line}: found {shown(text)!r}, expected {what}")
    return value


def shown(text: bytes) -> str:
    """Return a cell as an error message shows it."""
    return text[:40].decode(errors="replace")


def query_numbers(queries: QuerySet) -> dict[bytes, int]:
    """Return the position of each query by its qid as text."""
    return {qid.encode(): number for number, qid in enumerate(queries.qids.tolist())}


def document_names(queries: QuerySet) -> list[bytes]:
    """Return each document's id, or its position in its query, from 1, where it has none."""
    positions = np.arange(queries.n_docs) - np.repeat(queries.offsets[:-1] - 1, queries.lengths)
    places = [str(position).encode() for position in positions.tolist()]
    if queries.docids is None:
        return places
    return [docid or place for docid, place in zip(queries.docids.tolist(), places)]


class Placed:
    """The scores found so far, each in the row of its document.

    Attributes
    ----------
    scores : ndarray of shape (n_docs,), float64
        NaN where no score was found yet.
    """

    def __init__(self, path: Path, queries: QuerySet) -> None:
        self.path = path
        self.queries = queries
        self.scores = np.full(queries.n_docs, np.nan)
        self.lines: dict[int, int] = {}

    def put(self, line: int, row: int, score: float) -> None:
        """Set the score that a line has for a row; DataError where the row has one already."""
        first = self.lines.setdefault(row, line)
        if first != line:
            raise DataError(
                f"{self.path}:{line}: found {self._document(row)} again, "
                f"expected it once (line {first})"
            )
        self.scores[row] = score

    def all(self) -> np.ndarray:
        """Return the scores; DataError names the first document that has none."""
        missing = np.flatnonzero(np.isnan(self.scores))
        if len(missing):
            raise DataError(
                f"{self.path}: found no score for {self._document(int(missing[0]))}, expected "
                f"one for each of the {len(self.scores)} documents ({len(missing)} have none)"
            )
        return self.scores

    def _document(self, row: int) -> str:
        query = int(np.searchsorted(self.queries.offsets, row, side="right")) - 1
        one = self.queries.queries(query, query + 1)
        name = document_names(one)[row - int(self.queries.offsets[query])]
        return f"document {shown(name)} of query {self.queries.qids[query]}"
