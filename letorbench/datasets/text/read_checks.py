"""Checks of a whole file of LETOR text, beyond its single lines."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from letorbench.datasets.text import text_lines as kernels
from letorbench.datasets.text.blocks import Blocks, changed
from letorbench.datasets.text.read_errors import file_error, line_error
from letorbench.errors import DataError


def check_is_text(path: Path) -> None:
    """Raise DataError for a file that cannot be read or is binary."""
    try:
        with open(path, "rb") as file:
            beginning = file.read(8192)
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    if b"\0" in beginning:
        raise file_error(path, "a binary file", "lines of label qid:N index:value")


def require_room(path: Path, width: int, docs: int) -> None:
    """Raise DataError where so many documents of so many features are too large for the memory."""
    needed, there = 4 * width * docs, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    if needed > there:
        raise file_error(
            path,
            f"feature index {width:,}, which needs {needed:,} bytes for {docs:,} documents",
            f"an index that this machine's memory of {there:,} bytes is enough for",
        )


def check_qids_stay_together(blocks: Blocks, qids: np.ndarray, first: np.ndarray) -> None:
    """Raise DataError at the first row that returns to an earlier qid.

    first are the rows at which the qid changes.
    """
    runs = qids[first]
    order = np.argsort(runs, kind="stable")
    again = order[1:][np.diff(runs[order]) == 0]
    if len(again):
        row = int(first[again.min()])
        raise line_error(
            blocks.path,
            _line_of_row(blocks, row),
            f"qid {qids[row]} again after qid {qids[row - 1]}",
            "all lines of a query together",
        )


def check_last_line(blocks: Blocks, states: np.ndarray, width: int) -> None:
    """Raise DataError if the last line has no newline and fewer features than all others."""
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


def _line_of_row(blocks: Blocks, row: int) -> int:
    block = int(np.searchsorted(blocks.rows, row, side="right")) - 1
    left = row - int(blocks.rows[block])
    for number, line in enumerate(blocks.text(block).split(b"\n"), int(blocks.lines[block]) + 1):
        if line.strip() and not line.lstrip().startswith(b"#"):
            if left == 0:
                return number
            left -= 1
    raise changed(blocks.path)
