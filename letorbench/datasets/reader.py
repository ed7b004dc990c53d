"""From LETOR text (SVMlight text with qid) to a `QuerySet`, on all cores.

The file is cut at newlines into blocks, whose lines are counted first. Each thread then parses
block after block straight into its rows of one float32 array. Every value has the bits of
`np.float32(float(text))`.
"""

import math
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import numpy as np

from letorbench.compiled.threads import parallel_for, thread_count
from letorbench.datasets.arrays import LARGEST_FLOAT32
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.text import BOM, check_encoding
from letorbench.datasets.text import lines as kernels
from letorbench.datasets.text.mistakes import (
    DECIMAL,
    LARGEST_INDEX,
    MISSING,
    ReadOptions,
    changed,
    check_end,
    file_error,
    first_mistake,
)
from letorbench.datasets.text.numbers import NEWLINE, PADDING
from letorbench.errors import DataError
from letorbench.named_files import input_file

#: the bytes of text that a thread reads at a time; the buffer stays in the processor's cache
BLOCK = 1 << 20
#: the longest line, in bytes; a file with a longer one is not text
LONGEST_LINE = 1 << 26
#: the fewest characters, with index and blank, of a value that Python parses
LEAST_WORD = 3
EXPECTED_LINES = "lines of label qid:Q index:value"
#: the bytes at a file's beginning that are inspected first
START = 1 << 16
_COMMENT, _INDEX = re.compile(rb"#[^\n]*"), re.compile(rb"[ \t\r](\d{1,6}):")
#: the first bytes of files of gzip, bzip2, xz, zip, 7-Zip and RAR
COMPRESSED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\3\4", b"7z\xbc\xaf", b"Rar!")
#: NULL is a missing value, and the file decides the number of features
USUAL = ReadOptions()


def read_letor(
    path: str | Path, null: str | float = "keep", n_features: int | None = None
) -> QuerySet:
    """Read a file of LETOR text (SVMlight text with qid), dense or sparse.

    Parameters
    ----------
    path : path
        A file of lines `label qid:Q 1:0.5 2:3 … #docid = X`, perhaps compressed. Q is any text
        without blanks, so `7` and `07` are two queries.
    null : str or float
        The value of NULL and of NaN in any case: "keep" is NaN, a missing value; "error"; a
        finite number; or "min", the smallest value of that feature in the query (0 if the query
        has none), as in LETOR's min version.
    n_features : int, optional
        The number of features; a larger index is then an error. By default it is the largest
        index in the file.

    Returns
    -------
    QuerySet
        Rows in file order. Features that a line does not have are 0.

    Raises
    ------
    DataError
        At the first mistake; the message names the file, the line, and the found and the expected
        text.
    """
    return read_queries(input_file(path), ReadOptions(null, n_features))


def read_queries(path: Path, options: ReadOptions = USUAL) -> QuerySet:
    """Read a file of LETOR text as `read_letor` does; blank lines and comments are skipped."""
    try:
        with open(path, "rb") as file:
            size, start = os.fstat(file.fileno()).st_size, file.read(START)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    check_encoding(path, start)
    if b"\0" in start:
        found = "a compressed file" if start.startswith(COMPRESSED) else "a binary file"
        raise file_error(path, found, EXPECTED_LINES)
    first = len(BOM) if start.startswith(BOM) else 0
    if size == first:
        raise file_error(path, "an empty file", EXPECTED_LINES)
    blocks = cut_into_blocks(path, size, BLOCK, first)
    # the rows that the file begins with tell its width
    indices = map(int, _INDEX.findall(_COMMENT.sub(b"", start)))
    width = options.n_features or min(max(indices, default=1), LARGEST_INDEX)
    parsed = _parse(blocks, options, width)
    widest = parsed.widest
    if widest:  # the file begins with narrower rows
        del parsed  # its memory is needed again
        parsed = _parse(blocks, options, widest)
    if parsed.widest:
        raise changed(path)
    return _query_set(blocks, options, parsed)


class Blocks(NamedTuple):
    """The blocks of whole lines of a file."""

    path: Path
    starts: np.ndarray  # block b holds the bytes starts[b]:starts[b + 1]
    lines: np.ndarray  # the lines before each block, and last the number of all lines
    unended: bool  # whether the last line lacks a newline; it is then a separate block


def cut_into_blocks(path: Path, size: int, block: int, first: int = 0) -> Blocks:
    """Cut the bytes first:size of a file at newlines into blocks of about `block` bytes."""
    cuts = np.append(np.arange(first, size, block), size)
    counts = np.zeros((len(cuts) - 1, 2), dtype=np.int64)

    def count(number: int, text: np.ndarray, size: int) -> None:
        lines, end = kernels.count_lines(text, size)
        counts[number] = lines, cuts[number] + end

    _read_each(path, cuts, count)
    ended = counts[counts[:, 0] > 0]
    starts, lines = np.append(first, ended[:, 1]), ended[:, 0]
    unended = bool(starts[-1] < size)
    if unended:
        starts, lines = np.append(starts, size), np.append(lines, 1)
    if np.diff(starts).max() > LONGEST_LINE:
        raise file_error(path, "a line of more than 64 MB", "lines of text")
    return Blocks(path, starts, np.append(0, np.cumsum(lines)), unended)


def _read_each(path: Path, cuts: np.ndarray, work: Callable[[int, np.ndarray, int], None]) -> None:
    """Call work(number, text, size) for the bytes between each two cuts of a file, in threads.

    Behind the text in a thread's buffer are a newline and padding.
    """
    turns = iter(range(len(cuts) - 1))

    def take(_start: int, _stop: int) -> None:
        text = np.zeros(int(np.diff(cuts).max()) + 1 + PADDING, dtype=np.uint8)
        with open(path, "rb") as file:
            for number in turns:
                start, stop = map(int, cuts[number : number + 2])
                file.seek(start)
                if file.readinto(text.data[: stop - start]) != stop - start:
                    raise changed(path)
                text[stop - start] = NEWLINE
                work(number, text, stop - start)

    parallel_for(take, min(thread_count(), len(cuts) - 1))


class _Found(NamedTuple):
    """The rows and ids of a block."""

    rows: int
    widest: int  # the largest index beyond the width, or 0
    docids: np.ndarray
    starts: np.ndarray  # the rows where a query begins
    qids: np.ndarray  # the ids of these queries


class _Parsed(NamedTuple):
    """A row for every line, and the ids of each block; None for a block with a mistake."""

    features: np.ndarray
    labels: np.ndarray
    blocks: list[_Found | None]
    widest: int  # the largest index beyond the width, or 0


def _parse(blocks: Blocks, options: ReadOptions, width: int) -> _Parsed:
    """Parse all blocks into arrays with `width` features."""
    n_lines = int(blocks.lines[-1])
    try:
        features, labels = np.empty((n_lines, width), np.float32), np.empty(n_lines, np.int32)
    except MemoryError:
        found = f"feature index {width:,} in {n_lines:,} lines"
        raise file_error(blocks.path, found, "what the memory is enough for") from None
    # ` 1:` … ` width:` as words, their masks and lengths; the last never matches
    texts = [f" {index}:".encode() for index in range(1, width + 1)]
    words = [(int.from_bytes(t, "little"), (1 << 8 * len(t)) - 1, len(t)) for t in texts]
    prefixes = np.array([*words, (1, 0, 0)], dtype=np.uint64)
    parsed: list[_Found | None] = [None] * (len(blocks.starts) - 1)
    wrong: list[int] = []

    def parse(block: int, text: np.ndarray, size: int) -> None:
        if wrong:
            return
        size += blocks.unended and block == len(parsed) - 1
        first, last = map(int, blocks.lines[block : block + 2])
        notes = kernels.Notes(
            np.empty((last - first, 2), np.int64),
            np.empty((last - first, 3), np.int64),
            np.empty((size // LEAST_WORD + 1, 4), np.int64),
            np.zeros(2, np.int64),
        )
        right, rows, queries, longest_docid, longest_qid = kernels.parse(
            text, size, first, last, prefixes, options.limit, features, labels, notes
        )
        n_words, widest = notes.counts.tolist()
        if not (right and _read_words(features, text, notes.words[:n_words], options)):
            wrong.append(block)
            return
        docids, qids = notes.docids[:rows], notes.qids[:queries]
        parsed[block] = _Found(
            rows,
            widest,
            _texts(text, docids, longest_docid),
            qids[:, 2] - first,
            _texts(text, qids, longest_qid),
        )

    _read_each(blocks.path, blocks.starts, parse)
    widest = max((block.widest for block in parsed if block), default=0)
    return _Parsed(features, labels, parsed, widest)


def _query_set(blocks: Blocks, options: ReadOptions, parsed: _Parsed) -> QuerySet:
    features, labels, each, _ = parsed
    blocks_read = [block for block in each if block is not None]
    if len(blocks_read) < len(each):
        raise first_mistake(blocks.path, int(blocks.lines[each.index(None)]), options)
    bounds = np.append(0, np.cumsum([block.rows for block in blocks_read])).astype(np.int64)
    first = np.concatenate([block.starts + bound for bound, block in zip(bounds, blocks_read)])
    ids = np.concatenate([block.qids for block in blocks_read])
    new = np.append(True, ids[1:] != ids[:-1])[: len(ids)]
    qids = [qid.decode("utf-8", "surrogateescape") for qid in ids[new].tolist()]
    if len(set(qids)) < len(qids) or not all(map(str.isprintable, qids)):
        raise first_mistake(blocks.path, int(blocks.lines[-1]), options)
    n_docs = int(bounds[-1])
    if not n_docs:
        raise file_error(blocks.path, "only blank lines and comments", EXPECTED_LINES)
    if blocks.unended and blocks_read[-1].rows:
        check_end(blocks.path, int(blocks.lines[-1]), features.shape[1])
    for block in np.flatnonzero(bounds[:-1] != blocks.lines[:-1]):
        # blank lines and comments have left gaps
        old, to, n = int(blocks.lines[block]), int(bounds[block]), blocks_read[block].rows
        features[to : to + n] = features[old : old + n]
        labels[to : to + n] = labels[old : old + n]
    offsets = np.append(first[new], n_docs).astype(np.int64)
    if options.null == "min":
        nulls_to_least(features, offsets)
    names = np.concatenate([block.docids for block in blocks_read])
    docids = names if (names != b"").any() else None
    return QuerySet(features[:n_docs], labels[:n_docs], offsets, np.array(qids), docids)


def _read_words(
    features: np.ndarray, text: np.ndarray, words: np.ndarray, options: ReadOptions
) -> bool:
    """Write the values of words that Python parses; return whether all are valid."""
    null, content = options.null, text.tobytes() if len(words) else b""
    values = [content[start:end] for start, end in words[:, :2].tolist()]
    decimals = (value for value in values if null == "error" or value not in MISSING)
    if not all(map(DECIMAL.fullmatch, decimals)):
        return False
    fill = math.nan if isinstance(null, str) else null
    exact = np.array([fill if v in MISSING else float(v) for v in values])
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


def nulls_to_least(features: np.ndarray, offsets: np.ndarray) -> None:
    """Replace NaN by its query's smallest value of the feature, or 0 if there is none."""
    for start, stop in zip(offsets[:-1], offsets[1:]):
        query = features[start:stop]
        null = np.isnan(query)
        if null.any():
            least = np.where(null, np.float32(np.inf), query).min(axis=0)
            least[null.all(axis=0)] = 0
            query[null] = np.broadcast_to(least, query.shape)[null]
