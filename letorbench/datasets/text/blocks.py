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


class BlockReader:
    """One thread's open file and buffer."""

    def __init__(self, path: Path, longest: int) -> None:
        self._path = path
        self._file = open(path, "rb", buffering=0)
        self.text = np.zeros(longest + 1 + PADDING, dtype=np.uint8)

    def __enter__(self) -> BlockReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, start: int, stop: int) -> int:
        """Fill the buffer with the bytes start:stop of the file; return their number."""
        self._file.seek(start)
        view = memoryview(self.text)[: stop - start]
        done = 0
        while done < len(view):
            got = self._file.readinto(view[done:])
            if not got:
                raise changed(self._path)
            done += got
        return done


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where a file is cut into blocks of whole lines.

    Parameters
    ----------
    path : Path
    starts : ndarray of shape (n_blocks + 1,), int64
        Block b holds the bytes starts[b]:starts[b + 1].
    lines : ndarray of shape (n_blocks + 1,), int64
        The lines before each block.
    unended : bool
        Whether no newline ends the last line; it is then a block of its own.
    """

    path: Path
    starts: np.ndarray
    lines: np.ndarray
    unended: bool

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    def each(self, work: Callable[[BlockReader, int], bool]) -> None:
        """Call work(reader, block) for all blocks; several threads take them in order.

        A thread stops when its work returns False.
        """
        _take_turns(self.path, self.longest, self.count, work)

    def load(self, reader: BlockReader, block: int) -> int:
        """Read a block into the reader's buffer; return its length with the last newline."""
        size = reader.read(int(self.starts[block]), int(self.starts[block + 1]))
        if self.unended and block == self.count - 1:
            reader.text[size] = NEWLINE
            size += 1
        return size


def cut_into_blocks(path: Path, size: int, block: int) -> Blocks:
    """Cut a file of `size` > 0 bytes at newlines into blocks of about `block` bytes."""
    counts = np.zeros((-(-size // block), 2), dtype=np.int64)

    def count(reader: BlockReader, number: int) -> bool:
        start = number * block
        length = reader.read(start, min(start + block, size))
        lines, end = count_lines(reader.text, length)
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
    path: Path, longest: int, total: int, work: Callable[[BlockReader, int], bool]
) -> None:
    turns = itertools.count()

    def take(_start: int, _stop: int) -> None:
        with BlockReader(path, longest) as reader:
            while (turn := next(turns)) < total and work(reader, turn):
                pass

    parallel_for(take, min(thread_count(), total))
