"""A text file as blocks of whole lines that threads read into small buffers.

A buffer that stays in the processor's cache costs less than mapping the file, which has page
faults and counts the file's pages as memory of the process.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from letorbench.datasets.text.lines import count_lines
from letorbench.datasets.text.mistakes import changed, file_error
from letorbench.datasets.text.numbers import NEWLINE, PADDING
from letorbench.threads import parallel_for, thread_count

#: the longest line, in bytes; a longer one shows that the file is not text
LONGEST_LINE = 1 << 26
#: reads the bytes start:stop of a file, and returns their number
Read = Callable[[int, int], int]


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where a file is cut into blocks of whole lines."""

    path: Path
    #: block b holds the bytes starts[b]:starts[b + 1]
    starts: np.ndarray
    #: the lines before each block, and in the end all lines
    lines: np.ndarray
    #: whether no newline ends the last line; it is then a block of its own
    unended: bool

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    def each(self, work: Callable[[np.ndarray, int, int], bool], count: int | None = None) -> None:
        """Call work(text, size, block) for the first `count` blocks, by default all.

        Several threads take the blocks in order, each into a buffer of its own; a thread stops
        when its work returns False. text[:size] ends in a newline.
        """

        def load(text: np.ndarray, read: Read, block: int) -> bool:
            size = read(int(self.starts[block]), int(self.starts[block + 1]))
            if self.unended and block == self.count - 1:
                text[size] = NEWLINE
                size += 1
            return work(text, size, block)

        _take_turns(self.path, self.longest, self.count if count is None else count, load)


def cut_into_blocks(path: Path, size: int, block: int) -> Blocks:
    """Cut a file of `size` > 0 bytes at newlines into blocks of about `block` bytes."""
    counts = np.zeros((-(-size // block), 2), dtype=np.int64)

    def count(text: np.ndarray, read: Read, number: int) -> bool:
        start = number * block
        lines, end = count_lines(text, read(start, min(start + block, size)))
        counts[number] = lines, start + end
        return True

    _take_turns(path, block, len(counts), count)
    ended = counts[counts[:, 0] > 0]
    starts, lines = np.append(0, ended[:, 1]), ended[:, 0]
    unended = bool(starts[-1] < size)
    if unended:
        starts, lines = np.append(starts, size), np.append(lines, 1)
    blocks = Blocks(path, starts, np.append(0, np.cumsum(lines)), unended)
    if blocks.longest > LONGEST_LINE:
        raise file_error(path, "a line of more than 64 MB", "lines of text")
    return blocks


def _take_turns(
    path: Path, longest: int, total: int, work: Callable[[np.ndarray, Read, int], bool]
) -> None:
    """Call work(text, read, turn) for all turns; read(start, stop) fills text from the file."""
    turns = itertools.count()

    def take(_start: int, _stop: int) -> None:
        text = np.zeros(longest + 1 + PADDING, dtype=np.uint8)
        with open(path, "rb") as file:

            def read(start: int, stop: int) -> int:
                file.seek(start)
                if file.readinto(text.data[: stop - start]) != stop - start:
                    raise changed(path)
                return stop - start

            while (turn := next(turns)) < total and work(text, read, turn):
                pass

    parallel_for(take, min(thread_count(), total))
