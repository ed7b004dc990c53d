"""Checks of a whole file of LETOR text, beyond its single lines."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.text import text_lines as kernels
from letorbench.datasets.text.blocks import Blocks, changed
from letorbench.datasets.text.read_errors import file_error, line_error, shown
from letorbench.errors import DataError

EXPECTED_LINES = "lines of label qid:Q index:value"
TOGETHER = "all lines of a query together"
#: from fewer lines nothing is concluded on another one
ENOUGH_LINES = 50
#: that all values have fewer decimals than these may be chance
ENOUGH_DECIMALS = 3
#: what a user can do where a file is as it should be
WHOLE = "a newline at its end says that the file is whole"
#: the digits behind the point of each value
_DECIMALS = re.compile(rb"[0-9]:[^\s.]*\.?([0-9]*)(?=\s)")


def check_is_text(path: Path) -> None:
    """Raise DataError for a file that cannot be read or is binary."""
    try:
        with open(path, "rb") as file:
            beginning = file.read(8192)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if b"\0" in beginning:
        raise file_error(path, "a binary file", EXPECTED_LINES)


def require_room(path: Path, width: int, docs: int) -> None:
    """Raise DataError where so many documents of so many features are too large for the memory."""
    if not hasattr(os, "sysconf"):  # Windows
        return
    needed, there = 4 * width * docs, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise file_error(
            path,
            f"feature index {width:,}, which needs {needed:,} bytes for {docs:,} documents",
            f"an index that this machine's memory of {there:,} bytes is enough for",
        )


def query_starts(
    blocks: Blocks, found: Sequence[tuple[np.ndarray, np.ndarray]], stop: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the first row of each query, and the queries' ids.

    Parameters
    ----------
    blocks : Blocks
    found : sequence of (ndarray of int64, ndarray of bytes)
        The rows of each block whose query id is not that of the row before, and those ids.
    stop : int
        Rows from here on are not looked at.

    Returns
    -------
    rows : ndarray of shape (n_queries,), int64
    qids : ndarray of shape (n_queries,), str

    Raises
    ------
    DataError
        At the first row whose id is no printable UTF-8, or that returns to an earlier query.
    """
    rows = np.concatenate([each for each, _ in found])
    ids = np.concatenate([each for _, each in found])
    new = np.append(True, ids[1:] != ids[:-1])[: len(ids)] & (rows < stop)
    rows, ids = rows[new], ids[new]
    listed = ids.tolist()
    whole = b" ".join(listed).decode("utf-8", "surrogateescape")
    if not whole.isprintable() or len(set(listed)) < len(listed):
        raise _first_bad_qid(blocks, rows.tolist(), listed)
    return rows, np.array(whole.split(" ") if listed else [], dtype=str)


def _first_bad_qid(blocks: Blocks, rows: Sequence[int], ids: Sequence[bytes]) -> DataError:
    """Return the error of the first id that is not printable or was there before."""
    seen: dict[bytes, int] = {}
    for row, qid in zip(rows, ids, strict=True):
        text = qid.decode("utf-8", "surrogateescape")
        again = seen.setdefault(qid, row) != row
        if again or not text.isprintable():
            break
    problem = f"query id {shown(text)}", "printable characters in UTF-8"
    if again:
        began = _line_of_row(blocks, seen[qid])
        problem = f"query {shown(text)} again, which began at line {began}", TOGETHER
    unended = not blocks.ends_in_newline and row == blocks.rows[-1] - 1
    return line_error(blocks.path, _line_of_row(blocks, row), *problem, unended)


def check_last_line(blocks: Blocks, states: np.ndarray, width: int) -> None:
    """Raise DataError if the last line has no newline and less than all others: it was cut."""
    if blocks.ends_in_newline or blocks.rows[-1] == blocks.rows[-2]:
        return
    states = states[np.diff(blocks.rows) > 0]
    last = states[-1, kernels.LAST]
    least = min(states[:, kernels.FEWEST].min(), states[:-1, kernels.LAST].min(initial=width))
    if blocks.rows[-1] > 1 and least == width and last < width:
        raise line_error(
            blocks.path,
            _line_of_row(blocks, int(blocks.rows[-1]) - 1),
            f"a last line of {last} features without a newline",
            f"{width} features as on all other lines",
        )
    _check_whole(blocks)


def _check_whole(blocks: Blocks) -> None:
    """Raise DataError where a file seems to be cut within its last line, as those before tell."""
    last = blocks.text(blocks.count - 1)  # without a newline it is a block of its own
    others: list[bytes] = []
    for block in range(blocks.count - 2, -1, -1):
        lines = blocks.text(block).split(b"\n")
        others += [line for line in lines if line.split(b"#")[0].strip()]
        if len(others) >= ENOUGH_LINES:
            break
    if len(others) < ENOUGH_LINES or b"#" in last:
        return
    number = _line_of_row(blocks, int(blocks.rows[-1]) - 1)
    if all(b"#" in line for line in others):
        what = "a last line without a newline and a comment"
        raise line_error(blocks.path, number, what, f"a comment as on all other lines; {WHOLE}")
    values = b"\n".join(line.split(b"#")[0] for line in others) + b"\n"
    places = {len(digits) for digits in _DECIMALS.findall(values)}
    value = last.split()[-1]
    own = _DECIMALS.findall(value + b"\n")
    if len(places) == 1 and own and max(places) >= max(ENOUGH_DECIMALS, len(own[0]) + 1):
        what = f"a last line without a newline that ends in {value.decode(errors='replace')}"
        expected = f"{max(places)} decimals as in all other values; {WHOLE}"
        raise line_error(blocks.path, number, what, expected)


def _line_of_row(blocks: Blocks, row: int) -> int:
    block = int(np.searchsorted(blocks.rows, row, side="right")) - 1
    left = row - int(blocks.rows[block])
    for number, line in enumerate(blocks.text(block).split(b"\n"), int(blocks.lines[block]) + 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            if left == 0:
                return number
            left -= 1
    raise changed(blocks.path)
