"""From LETOR text (SVMlight text with qid) to a `QuerySet`, on all cores.

The file is cut at newlines into blocks. The rows of all blocks are counted first. Each thread
then parses block after block straight into its rows of one float32 array. Every value has the
bits of `np.float32(float(text))`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.signature import signature
from letorbench.datasets.text import text_lines as kernels
from letorbench.datasets.text.blocks import BlockReader, Blocks, changed, cut_into_blocks
from letorbench.datasets.text.read_checks import (
    EXPECTED_LINES,
    check_is_text,
    check_last_line,
    query_starts,
    require_room,
)
from letorbench.datasets.text.read_errors import Fault, fault_error, file_error
from letorbench.datasets.text.text_scan import widest
from letorbench.errors import UsageError

#: the bytes of text that a thread reads at a time; the buffer stays in the processor's cache
BLOCK = 1 << 20
#: a larger feature index is an error, even where the number of features is not known
LARGEST_INDEX = 65_536
#: the fewest characters of a number that Python must round, with its index
LEAST_HARD = 8


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
    before = signature(path)
    if before[0] == 0:
        raise file_error(path, "an empty file", EXPECTED_LINES)
    check_is_text(path)
    blocks = cut_into_blocks(path, before[0], BLOCK)
    if not blocks.rows[-1]:
        raise file_error(path, "only blank lines and comments", EXPECTED_LINES)
    parsed = _parse(blocks, options, options.n_features or _width(blocks, 1))
    if parsed is None:
        parsed = _parse(blocks, options, _width(blocks, blocks.count))
    if parsed is None or signature(path) != before:
        raise changed(path)
    return parsed


@dataclass(eq=False)
class _Rows:
    """The arrays that the threads fill, and what they note about each block."""

    features: np.ndarray
    labels: np.ndarray
    states: np.ndarray
    docids: list[np.ndarray | None]
    qids: list[tuple[np.ndarray, np.ndarray]]
    faults: dict[int, Fault] = field(default_factory=dict)

    @staticmethod
    def empty(blocks: Blocks, width: int) -> _Rows:
        n = int(blocks.rows[-1])
        states = np.zeros((blocks.count, kernels.STATE), dtype=np.int64)
        none = np.empty(0, np.int64), np.empty(0, "S1")
        rows = np.empty((n, width), np.float32), np.empty(n, np.int32)
        return _Rows(*rows, states, [None] * blocks.count, [none] * blocks.count)


def _parse(blocks: Blocks, options: ReadOptions, width: int) -> QuerySet | None:
    """Return the query set, or None if an index is beyond a width that was only a guess."""
    require_room(blocks.path, width, int(blocks.rows[-1]))
    rows = _Rows.empty(blocks, width)
    limit = options.n_features or LARGEST_INDEX
    null = np.float32(math.nan if isinstance(options.null, str) else options.null)
    syntax = kernels.Syntax(*_prefixes(width), limit, null, options.null != "error")
    target = kernels.Rows(rows.features, rows.labels)
    most_rows = int(np.diff(blocks.rows).max())

    def work(reader: BlockReader, block: int) -> bool:
        if rows.faults and block > min(rows.faults):
            return False
        size = blocks.load(reader, block)
        state, first, last = rows.states[block], *map(int, blocks.rows[block : block + 2])
        docids = np.empty((most_rows, 2), dtype=np.int64)
        qids = np.empty((most_rows, 3), dtype=np.int64)
        hard = np.empty((blocks.longest // LEAST_HARD + 1, 3), dtype=np.int64)
        notes = kernels.Notes(docids, qids, hard, state)
        kernels.parse(reader.text, size, first, last, syntax, target, notes)
        qids = qids[: state[kernels.QUERIES]]
        rows.qids[block] = qids[:, 2], _texts(reader.text, qids, state[kernels.QIDS])
        if state[kernels.CODE] == kernels.DONE and first + state[kernels.ROWS] != last:
            state[kernels.CODE] = kernels.CHANGED
        hard = hard[: state[kernels.HARDS]]
        beyond = _round_in_python(rows.features, reader.text, hard)
        if beyond is not None:
            row, state[kernels.POSITION] = beyond
            state[kernels.CODE], state[kernels.ROWS] = kernels.VALUE, row - first
        if state[kernels.CODE] != kernels.DONE:
            rows.faults[block] = _fault(blocks, block, reader.text[:size].tobytes(), state)
            return False
        if state[kernels.IDS]:
            rows.docids[block] = _texts(reader.text, docids[: last - first], state[kernels.IDS])
        return True

    blocks.each(work)
    return _query_set(blocks, options, rows, limit)


def _query_set(blocks: Blocks, options: ReadOptions, rows: _Rows, limit: int) -> QuerySet | None:
    fault_block = min(rows.faults, default=blocks.count)
    good = int(blocks.rows[fault_block])
    if rows.faults:
        state = rows.states[fault_block]
        good += int(state[kernels.ROWS]) + (state[kernels.CODE] in kernels.AFTER_QID)
    first, qids = query_starts(blocks, rows.qids, good)
    if rows.faults:
        fault = rows.faults[fault_block]
        if fault.code == kernels.WIDER:
            return None
        if fault.code == kernels.CHANGED:
            raise changed(blocks.path)
        raise fault_error(blocks.path, fault, limit, options.n_features is not None)
    check_last_line(blocks, rows.states, rows.features.shape[1])
    offsets = np.append(first, good).astype(np.int64)
    if options.null == "min" and rows.states[:, kernels.NULLS].any():
        _nulls_to_least(rows.features, offsets)
    return QuerySet(rows.features, rows.labels, offsets, qids, _join_docids(blocks, rows.docids))


def _width(blocks: Blocks, first: int) -> int:
    """Return the largest feature index in the first blocks, at least 1."""
    found = np.zeros(blocks.count, dtype=np.int64)

    def work(reader: BlockReader, block: int) -> bool:
        if block < first:
            found[block] = widest(reader.text, blocks.load(reader, block), LARGEST_INDEX)
        return block < first

    blocks.each(work)
    return max(1, int(found.max()))


def _prefixes(width: int) -> tuple[np.ndarray, np.ndarray]:
    """Return the words ` 1:` … ` width:`, their masks and lengths; the last never matches."""
    text = [f" {index}:".encode() for index in range(1, width + 1)]
    words = [(int.from_bytes(t, "little"), (1 << 8 * len(t)) - 1) for t in text]
    skips = np.array([*map(len, text), 0], dtype=np.int64)
    return np.array([*words, (1, 0)], dtype=np.uint64), skips


def _fault(blocks: Blocks, block: int, text: bytes, state: np.ndarray) -> Fault:
    position = int(state[kernels.POSITION])
    start = text.rfind(b"\n", 0, position) + 1
    return Fault(
        int(state[kernels.CODE]),
        int(blocks.lines[block]) + text.count(b"\n", 0, position) + 1,
        text[start : text.index(b"\n", position)],
        position - start,
        block == blocks.count - 1 and not blocks.ends_in_newline,
    )


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
    found = np.empty((len(spans), max(1, longest)), dtype=np.uint8)
    kernels.gather(text, spans, found)
    return found.view(f"S{found.shape[1]}")[:, 0]


def _join_docids(blocks: Blocks, docids: list[np.ndarray | None]) -> np.ndarray | None:
    if all(ids is None for ids in docids):
        return None
    rows = np.diff(blocks.rows)
    return np.concatenate(
        [np.zeros(n, "S1") if ids is None else ids for n, ids in zip(rows, docids)]
    )


def _nulls_to_least(features: np.ndarray, offsets: np.ndarray) -> None:
    """Replace NaN by its query's smallest value of the feature, or 0 where there is none."""
    for start, stop in zip(offsets[:-1], offsets[1:]):
        query = features[start:stop]
        null = np.isnan(query)
        if null.any():
            least = np.where(null, np.float32(np.inf), query).min(axis=0)
            least[null.all(axis=0)] = 0
            query[null] = np.broadcast_to(least, query.shape)[null]
