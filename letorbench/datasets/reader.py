"""From LETOR text (SVMlight text with qid) to a `QuerySet`, on all cores.

The file is cut at newlines into blocks, whose lines are counted first. Each thread then parses
block after block straight into its rows of one float32 array. Every value has the bits of
`np.float32(float(text))`.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np

from letorbench.datasets.arrays import LARGEST_FLOAT32
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.text import lines as kernels
from letorbench.datasets.text.blocks import Blocks, cut_into_blocks
from letorbench.datasets.text.mistakes import (
    DECIMAL,
    Allowed,
    changed,
    check_end,
    file_error,
    first_mistake,
)
from letorbench.errors import DataError, UsageError

#: the bytes of text that a thread reads at a time; the buffer stays in the processor's cache
BLOCK = 1 << 20
#: a larger feature index is an error, even where the number of features is not known
LARGEST_INDEX = 65_536
#: the fewest characters of a value that is left to Python, with its index and a blank
LEAST_WORD = 3
EXPECTED_LINES = "lines of label qid:Q index:value"
#: how files of gzip, bzip2, xz, zip, 7-Zip and RAR begin
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\3\4", b"7z\xbc\xaf", b"Rar!")


@dataclass(frozen=True)
class ReadOptions:
    """How a file is read; see `read_letor`."""

    null: str | float = "error"
    n_features: int | None = None
    #: whether a value beyond float32 becomes the largest float32; else it is an error
    clip: bool = False

    def __post_init__(self) -> None:
        named = self.null in ("error", "min")
        if not named and (isinstance(self.null, str) or not abs(self.null) <= LARGEST_FLOAT32):
            raise UsageError(f"null is {self.null!r}, expected error, min or a finite number")
        if self.n_features is not None and not 1 <= self.n_features <= LARGEST_INDEX:
            raise UsageError(
                f"n_features is {self.n_features}, expected a number from 1 to {LARGEST_INDEX}"
            )

    @property
    def limit(self) -> int:
        """The largest index that is allowed."""
        return self.n_features or LARGEST_INDEX


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
        What NULL becomes: "error", a finite number, or "min", the smallest value of that feature
        in the query (0 where the query has none), as in LETOR's min version.
    n_features : int, optional
        The number of features; a larger index is then an error. By default it is the largest
        index in the file.

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
    """Read a file of LETOR text as `read_letor` does; blank lines and comments are skipped."""
    try:
        with open(path, "rb") as file:
            size, start = os.fstat(file.fileno()).st_size, file.read(8192)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if b"\0" in start:
        found = "a compressed file" if start.startswith(COMPRESSED) else "a binary file"
        raise file_error(path, found, EXPECTED_LINES)
    if b"\r" in start[:-1] and b"\n" not in start:
        raise file_error(path, "lines that end in a carriage return alone", "newlines")
    if not size:
        raise file_error(path, "an empty file", EXPECTED_LINES)
    blocks = cut_into_blocks(path, size, BLOCK)
    queries = _parse(blocks, options, options.n_features or _width(blocks, 1))
    if queries is None:  # the first block has not the widest row
        queries = _parse(blocks, options, _width(blocks, blocks.count))
    if queries is None:
        raise changed(path)
    return queries


class _Parsed(NamedTuple):
    """What the threads fill: a row for every line, and what was found in each block."""

    features: np.ndarray
    labels: np.ndarray
    states: np.ndarray
    docids: list[np.ndarray]
    #: the rows of each block where a query begins, from the block's first row, and the query ids
    starts: list[tuple[np.ndarray, np.ndarray]]


def _parse(blocks: Blocks, options: ReadOptions, width: int) -> QuerySet | None:
    """Return the query set, or None if an index is beyond a width that was only a guess."""
    n_lines = int(blocks.lines[-1])
    try:
        features, labels = np.empty((n_lines, width), np.float32), np.empty(n_lines, np.int32)
    except MemoryError:
        found = f"feature index {width:,} in {n_lines:,} lines"
        raise file_error(blocks.path, found, "what the memory is enough for") from None
    prefixes = _prefixes(width)
    states = np.zeros((blocks.count, kernels.STATE), dtype=np.int64)
    codes = states[:, kernels.CODE]
    none = np.empty(0, "S1")
    docids, starts = [none] * blocks.count, [(np.empty(0, np.int64), none)] * blocks.count
    most_rows = int(np.diff(blocks.lines).max())

    def work(text: np.ndarray, size: int, block: int) -> bool:
        if (codes > kernels.DONE).any():
            return False
        state, first, last = states[block], *map(int, blocks.lines[block : block + 2])
        names = np.empty((most_rows, 2), dtype=np.int64)
        qids = np.empty((most_rows, 3), dtype=np.int64)
        words = np.empty((blocks.longest // LEAST_WORD + 1, 4), dtype=np.int64)
        notes = kernels.Notes(names, qids, words, state)
        kernels.parse(text, size, first, last, prefixes, options.limit, features, labels, notes)
        if not _read_words(features, text, words[: state[kernels.WORDS]], options):
            state[kernels.CODE] = kernels.WRONG
        qids = qids[: state[kernels.QUERIES]]
        starts[block] = qids[:, 2] - first, _texts(text, qids, state[kernels.QIDS])
        docids[block] = _texts(text, names[: state[kernels.ROWS]], state[kernels.IDS])
        return True

    blocks.each(work)
    if (codes == kernels.WIDER).any() and not (codes == kernels.WRONG).any():
        return None
    return _query_set(blocks, options, _Parsed(features, labels, states, docids, starts))


def _query_set(blocks: Blocks, options: ReadOptions, parsed: _Parsed) -> QuerySet:
    features, labels, states, docids, starts = parsed
    counts = states[:, kernels.ROWS]
    bounds = np.append(0, np.cumsum(counts))
    first = np.concatenate([rows + bound for bound, (rows, _) in zip(bounds, starts)])
    ids = np.concatenate([each for _, each in starts])
    new = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
    qids = [each.decode("utf-8", "surrogateescape") for each in ids[new].tolist()]
    mistaken = np.flatnonzero(states[:, kernels.CODE] != kernels.DONE)
    if len(mistaken) or len(set(qids)) < len(qids) or not all(map(str.isprintable, qids)):
        good_lines = int(blocks.lines[np.append(mistaken, blocks.count)[0]])
        allowed = Allowed(
            options.limit, options.n_features is not None, options.null != "error", options.clip
        )
        raise first_mistake(blocks.path, good_lines, allowed)
    n_docs = int(bounds[-1])
    if not n_docs:
        raise file_error(blocks.path, "only blank lines and comments", EXPECTED_LINES)
    if blocks.unended and states[-1, kernels.ROWS]:
        check_end(blocks.path, int(blocks.lines[-1]), features.shape[1])
    for block in np.flatnonzero(bounds[:-1] != blocks.lines[:-1]):
        # blank lines and comments have left gaps
        old, to, n = int(blocks.lines[block]), int(bounds[block]), int(counts[block])
        features[to : to + n] = features[old : old + n]
        labels[to : to + n] = labels[old : old + n]
    offsets = np.append(first[new], n_docs).astype(np.int64)
    if options.null == "min":
        _nulls_to_least(features, offsets)
    names = np.concatenate(docids) if states[:, kernels.IDS].any() else None
    return QuerySet(features[:n_docs], labels[:n_docs], offsets, np.array(qids), names)


def _width(blocks: Blocks, first: int) -> int:
    """Return the largest feature index in the first blocks, at least 1."""
    largest = np.zeros(blocks.count, dtype=np.int64)

    def work(text: np.ndarray, size: int, block: int) -> bool:
        largest[block] = kernels.widest(text, size, LARGEST_INDEX)
        return True

    blocks.each(work, first)
    return max(1, int(largest.max()))


def _prefixes(width: int) -> np.ndarray:
    """Return ` 1:` … ` width:` as words, their masks and lengths; the last never matches."""
    text = [f" {index}:".encode() for index in range(1, width + 1)]
    words = [(int.from_bytes(t, "little"), (1 << 8 * len(t)) - 1, len(t)) for t in text]
    return np.array([*words, (1, 0, 0)], dtype=np.uint64)


def _read_words(
    features: np.ndarray, text: np.ndarray, words: np.ndarray, options: ReadOptions
) -> bool:
    """Write the values of words that are left to Python; return whether all have one."""
    null, content = options.null, text.tobytes() if len(words) else b""
    values = [content[start:end] for start, end in words[:, :2].tolist()]
    decimals = (value for value in values if null == "error" or value != b"NULL")
    if not all(map(DECIMAL.fullmatch, decimals)):
        return False
    fill = math.nan if isinstance(null, str) else null
    exact = np.array([fill if v == b"NULL" else float(v) for v in values])
    if options.clip:
        exact = exact.clip(-LARGEST_FLOAT32, LARGEST_FLOAT32)
    with np.errstate(over="ignore"):
        numbers = exact.astype(np.float32)
    features[words[:, 2], words[:, 3]] = numbers
    return not np.isinf(numbers).any()


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
