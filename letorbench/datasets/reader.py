"""From LETOR text (SVMlight text with qid) to a `QuerySet`, on all cores.

The file is cut at newlines into blocks, whose lines are counted first. Each thread then parses
block after block straight into its rows of one float32 array. Every value has the bits of
`np.float32(float(text))`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.text import lines as kernels
from letorbench.datasets.text.blocks import BlockReader, Blocks, cut_into_blocks
from letorbench.datasets.text.errors import (
    changed,
    fault_error,
    file_error,
    line_error,
    shown,
)
from letorbench.errors import DataError, UsageError

#: the bytes of text that a thread reads at a time; the buffer stays in the processor's cache
BLOCK = 1 << 20
#: a larger feature index is an error, even where the number of features is not known
LARGEST_INDEX = 65_536
#: the fewest characters of a number that Python must round, with its index
LEAST_HARD = 8
#: an odd number without a pattern; its powers mix the words of a query id into one
MULTIPLIER = np.uint64(0x9E3779B97F4A7C15)
EXPECTED_LINES = "lines of label qid:Q index:value"


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read.

    Parameters
    ----------
    null : str or float
        What NULL becomes: "error", a finite number, or "min", the smallest value of that feature
        in the query (0 where the query has none), as in LETOR's min version.
    n_features : int, optional
        The number of features; a larger index is then an error. By default it is the largest
        index in the file.
    """

    null: str | float = "error"
    n_features: int | None = None

    def __post_init__(self) -> None:
        named = self.null in ("error", "min")
        if not named and (isinstance(self.null, str) or not math.isfinite(self.null)):
            raise UsageError(f"null is {self.null!r}, expected error, min or a finite number")
        if self.n_features is not None and not 1 <= self.n_features <= LARGEST_INDEX:
            raise UsageError(
                f"n_features is {self.n_features}, expected a number from 1 to {LARGEST_INDEX}"
            )


#: NULL is an error, and the number of features is found
READ_STRICTLY = ReadOptions()


def read_letor(
    path: str | Path, null: str | float = "error", n_features: int | None = None
) -> QuerySet:
    """Read a file of LETOR text (SVMlight text with qid), dense or sparse.

    Parameters
    ----------
    path : path
        A file of lines `label qid:Q 1:0.5 2:3 … #docid = X`. Q is any text without blanks, so
        `7` and `07` are two queries.
    null : str or float
        What a NULL value becomes: "error", "min" (the query's minimum) or a number.
    n_features : int, optional
        The number of features; by default the largest index in the file.

    Returns
    -------
    QuerySet
        Rows in file order, features that a line does not have being 0.

    Raises
    ------
    DataError
        At the first mistake; the message names the file, the line, what was found and what was
        expected.
    """
    return read_queries(Path(path), ReadOptions(null, n_features))


def read_queries(path: Path, options: ReadOptions = READ_STRICTLY) -> QuerySet:
    """Read a file of LETOR text; see `read_letor`.

    Missing features are 0. Blank lines and lines that hold only a comment are skipped.

    Raises
    ------
    DataError
        At the first mistake.
    """
    try:
        with open(path, "rb") as file:
            size, start = os.fstat(file.fileno()).st_size, file.read(8192)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if b"\0" in start:
        raise file_error(path, "a binary file", EXPECTED_LINES)
    if not size:
        raise file_error(path, "an empty file", EXPECTED_LINES)
    blocks = cut_into_blocks(path, size, BLOCK)
    queries = _parse(blocks, options, options.n_features or _width(blocks, 1))
    if queries is None:  # the first block has not the widest row
        queries = _parse(blocks, options, _width(blocks, blocks.count))
    if queries is None:
        raise changed(path)
    return queries


@dataclass(eq=False)
class _Rows:
    """The arrays that the threads fill, with a row for every line, and notes on each block."""

    features: np.ndarray
    labels: np.ndarray
    states: np.ndarray
    docids: list[np.ndarray | None]
    qids: list[tuple[np.ndarray, np.ndarray]]
    #: the error of a block; None for an index beyond a width that was only a guess
    faults: dict[int, DataError | None] = field(default_factory=dict)

    @staticmethod
    def empty(blocks: Blocks, width: int) -> _Rows:
        n = int(blocks.lines[-1])
        states = np.zeros((blocks.count, kernels.STATE), dtype=np.int64)
        none = np.empty(0, np.int64), np.empty(0, "S1")
        arrays = np.empty((n, width), np.float32), np.empty(n, np.int32)
        return _Rows(*arrays, states, [None] * blocks.count, [none] * blocks.count)

    def close_gaps(self, blocks: Blocks) -> np.ndarray:
        """Move rows up to where lines were blank or comments; return each block's first row."""
        counts = self.states[:, kernels.ROWS]
        starts = np.append(0, np.cumsum(counts))
        for block in np.flatnonzero(starts[:-1] != blocks.lines[:-1]):
            old, new, n = int(blocks.lines[block]), int(starts[block]), int(counts[block])
            self.features[new : new + n] = self.features[old : old + n]
            self.labels[new : new + n] = self.labels[old : old + n]
            self.qids[block] = self.qids[block][0] - (old - new), self.qids[block][1]
        return starts


def _parse(blocks: Blocks, options: ReadOptions, width: int) -> QuerySet | None:
    """Return the query set, or None if an index is beyond a width that was only a guess."""
    try:
        rows = _Rows.empty(blocks, width)
    except MemoryError:
        found = f"feature index {width:,} in {int(blocks.lines[-1]):,} lines"
        raise file_error(blocks.path, found, "what the memory is enough for") from None
    limit = options.n_features or LARGEST_INDEX
    null = np.float32(math.nan if isinstance(options.null, str) else options.null)
    syntax = kernels.Syntax(*_prefixes(width), limit, null, options.null != "error")
    target = kernels.Rows(rows.features, rows.labels)
    most_rows = int(np.diff(blocks.lines).max())

    def work(reader: BlockReader, block: int) -> bool:
        if rows.faults and block > min(rows.faults):
            return False
        size = blocks.load(reader, block)
        state, first, last = rows.states[block], *map(int, blocks.lines[block : block + 2])
        docids = np.empty((most_rows, 2), dtype=np.int64)
        qids = np.empty((most_rows, 3), dtype=np.int64)
        hard = np.empty((blocks.longest // LEAST_HARD + 1, 3), dtype=np.int64)
        notes = kernels.Notes(docids, qids, hard, state)
        kernels.parse(reader.text, size, first, last, syntax, target, notes)
        qids = qids[: state[kernels.QUERIES]]
        rows.qids[block] = qids[:, 2], _texts(reader.text, qids, state[kernels.QIDS])
        beyond = _round_in_python(rows.features, reader.text, hard[: state[kernels.HARDS]])
        if beyond is not None:
            row, state[kernels.POSITION] = beyond
            state[kernels.CODE], state[kernels.ROWS] = kernels.VALUE, row - first
        if state[kernels.CODE] != kernels.DONE:
            text = reader.text[:size].tobytes()
            rows.faults[block] = _fault(blocks, block, text, state, limit, options)
            return False
        if state[kernels.IDS]:
            docids = docids[: state[kernels.ROWS]]
            rows.docids[block] = _texts(reader.text, docids, state[kernels.IDS])
        return True

    blocks.each(work)
    return _query_set(blocks, options, rows)


def _query_set(blocks: Blocks, options: ReadOptions, rows: _Rows) -> QuerySet | None:
    starts = rows.close_gaps(blocks)
    fault_block = min(rows.faults, default=blocks.count)
    good = int(starts[fault_block])
    if rows.faults:
        state = rows.states[fault_block]
        after_qid = int(state[kernels.CODE] in kernels.AFTER_QID)
        good += int(state[kernels.ROWS]) + after_qid
        starts[fault_block + 1 :] += after_qid  # the faulty row has a line of its block
    first, qids = _query_starts(blocks, starts, rows.qids, good)
    if rows.faults:
        error = rows.faults[fault_block]
        if error is None:
            return None
        raise error
    if not good:
        raise file_error(blocks.path, "only blank lines and comments", EXPECTED_LINES)
    _check_last_line(blocks, starts, rows.states, rows.features.shape[1])
    offsets = np.append(first, good).astype(np.int64)
    if options.null == "min" and rows.states[:, kernels.NULLS].any():
        _nulls_to_least(rows.features, offsets)
    docids = None
    if any(ids is not None for ids in rows.docids):
        counts = rows.states[:, kernels.ROWS].tolist()
        docids = np.concatenate(
            [np.zeros(n, "S1") if ids is None else ids for n, ids in zip(counts, rows.docids)]
        )
    return QuerySet(rows.features[:good], rows.labels[:good], offsets, qids, docids)


def _query_starts(
    blocks: Blocks,
    starts: np.ndarray,
    noted: Sequence[tuple[np.ndarray, np.ndarray]],
    stop: int,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each query, and the queries' ids.

    Parameters
    ----------
    blocks : Blocks
    starts : ndarray of shape (n_blocks + 1,)
        The first row of each block.
    noted : sequence of (ndarray of int64, ndarray of bytes)
        The rows of each block whose query id is not that of the row before, and those ids.
    stop : int
        Rows from here on are not looked at.

    Raises
    ------
    DataError
        At the first row whose id is not printable UTF-8, or that returns to an earlier query.
    """
    rows = np.concatenate([each for each, _ in noted])
    ids = np.concatenate([each for _, each in noted])
    new = np.append(True, ids[1:] != ids[:-1])[: len(ids)] & (rows < stop)
    rows, ids = rows[new], ids[new]
    text = _as_text(ids)
    if text is not None and _all_differ(ids):
        return rows, text
    seen: dict[bytes, int] = {}
    for row, qid in zip(rows.tolist(), ids.tolist(), strict=True):
        shown_id = shown(qid.decode("utf-8", "surrogateescape"))
        number = _line_of_row(blocks, starts, row)
        unended = blocks.unended and row == starts[-1] - 1
        if qid in seen:
            began = f"query {shown_id} again, which began at line "
            began += str(_line_of_row(blocks, starts, seen[qid]))
            together = "all lines of a query together"
            raise line_error(blocks.path, number, began, together, unended)
        if not qid.decode("utf-8", "surrogateescape").isprintable():
            expected = "printable characters in UTF-8"
            raise line_error(blocks.path, number, f"query id {shown_id}", expected, unended)
        seen[qid] = row
    assert text is not None, "an id that cannot be printed has been told"
    return rows, text


def _all_differ(ids: np.ndarray) -> bool:
    """Return whether no two ids, (n,) bytes, are equal; rarely False where none are."""
    width = -(-ids.dtype.itemsize // 8)
    words = ids.astype(f"S{8 * width}").view(np.uint64).reshape(len(ids), width)
    keys = np.sort(words @ MULTIPLIER ** np.arange(width, dtype=np.uint64))
    return bool((keys[1:] != keys[:-1]).all())


def _as_text(ids: np.ndarray) -> np.ndarray | None:
    """Return ids, (n,) bytes, as text; None where a character cannot be printed."""
    if not len(ids):
        return np.empty(0, str)
    characters = ids.view(np.uint8).reshape(len(ids), -1)
    if characters.max() < 127 and characters[characters > 0].min() > 32:
        return characters.astype(np.uint32).view(f"U{characters.shape[1]}").reshape(-1)
    text = b" ".join(ids.tolist()).decode("utf-8", "surrogateescape")
    return np.array(text.split(" ")) if text.isprintable() else None


def _check_last_line(blocks: Blocks, starts: np.ndarray, states: np.ndarray, width: int) -> None:
    """Raise DataError if the last line has no newline and fewer features than all others."""
    states = states[np.diff(starts) > 0]
    if not blocks.unended or starts[-1] == starts[-2] or len(states) < 2:
        return
    last = states[-1, kernels.LAST]
    if last < width == min(states[:, kernels.FEWEST].min(), states[:-1, kernels.LAST].min()):
        raise line_error(
            blocks.path,
            _line_of_row(blocks, starts, int(starts[-1]) - 1),
            f"a last line of {last} features without a newline",
            f"{width} features as on all other lines",
        )


def _line_of_row(blocks: Blocks, starts: np.ndarray, row: int) -> int:
    """Return the number of a row's line, from 1."""
    block = int(np.searchsorted(starts, row, side="right")) - 1
    left = row - int(starts[block])
    for number, line in enumerate(blocks.text(block).split(b"\n"), int(blocks.lines[block]) + 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            if left == 0:
                return number
            left -= 1
    raise changed(blocks.path)


def _width(blocks: Blocks, first: int) -> int:
    """Return the largest feature index in the first blocks, at least 1."""
    largest = np.zeros(blocks.count, dtype=np.int64)

    def work(reader: BlockReader, block: int) -> bool:
        if block < first:
            size = blocks.load(reader, block)
            largest[block] = kernels.widest(reader.text, size, LARGEST_INDEX)
        return block < first

    blocks.each(work)
    return max(1, int(largest.max()))


def _prefixes(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the words ` 1:` … ` width:`, their masks and lengths; the last never matches."""
    text = [f" {index}:".encode() for index in range(1, width + 1)]
    words = [(int.from_bytes(t, "little"), (1 << 8 * len(t)) - 1) for t in text]
    skips = np.array([*map(len, text), 0], dtype=np.int64)
    return np.array([*words, (1, 0)], dtype=np.uint64), skips


def _fault(
    blocks: Blocks, block: int, text: bytes, state: np.ndarray, limit: int, options: ReadOptions
) -> DataError | None:
    """Return the error of the line that stopped the parser; None where a row is wider."""
    code, position = int(state[kernels.CODE]), int(state[kernels.POSITION])
    if code == kernels.WIDER:
        return None
    if code == kernels.CHANGED:
        return changed(blocks.path)
    start = text.rfind(b"\n", 0, position) + 1
    number = int(blocks.lines[block]) + text.count(b"\n", 0, position) + 1
    line = text[start : text.index(b"\n", position)]
    unended = block == blocks.count - 1 and blocks.unended
    known = options.n_features is not None
    return fault_error(blocks.path, number, line, position - start, code, limit, known, unended)


def _round_in_python(
    features: np.ndarray, text: np.ndarray, hard: np.ndarray
) -> tuple[int, int] | None:
    """Write the numbers that are too near to the middle of two float32 for the kernel.

    Return the row and the position of the first that is beyond float32.
    """
    for row, feature, start in hard.tolist():
        stop = start
        while text[stop] > 32 and text[stop] != 35:
            stop += 1
        with np.errstate(over="ignore"):
            value = np.float32(float(text[start:stop].tobytes()))
        if np.isinf(value):
            return row, start
        features[row, feature] = value
    return None


def _texts(text: np.ndarray, spans: np.ndarray, longest: int) -> np.ndarray:
    """Return the bytes of each span, (n_spans,) "S"."""
    copies = np.empty((len(spans), max(1, longest)), dtype=np.uint8)
    kernels.gather(text, spans, copies)
    return copies.view(f"S{copies.shape[1]}")[:, 0]


def _nulls_to_least(features: np.ndarray, offsets: np.ndarray) -> None:
    """Replace NaN by its query's smallest value of the feature, or 0 where there is none."""
    for start, stop in zip(offsets[:-1], offsets[1:]):
        query = features[start:stop]
        null = np.isnan(query)
        if null.any():
            least = np.where(null, np.float32(np.inf), query).min(axis=0)
            least[null.all(axis=0)] = 0
            query[null] = np.broadcast_to(least, query.shape)[null]
