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

from letorbench.datasets.text.read_errors import file_error
from letorbench.datasets.text.text_scan import HASH, NEWLINE, count_lines, count_rows
from letorbench.datasets.text.text_words import PADDING
from letorbench.threads import parallel_for, thread_count

#: stands after the last block, where the file has ended
NO_BLANK = 255
#: the longest line, in bytes; a longer one shows that the file is no text
LONGEST_LINE = 1 << 26


class BlockReader:
    """One thread's open file and buffer. A newline and padding end the buffer."""

    def __init__(self, path: Path, size: int, longest: int) -> None:
        self._path = path
        self._size = size
        self._file = open(path, "rb", buffering=0)
        self.text = np.zeros(longest + 1 + PADDING, dtype=np.uint8)

    def __enter__(self) -> BlockReader:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, start: int, stop: int) -> int:
        """Fill the buffer with the bytes start:stop and a newline; return the length in all."""
        self._file.seek(start)
        view = memoryview(self.text)[: stop - start]
        done = 0
        while done < len(view):
            got = self._file.readinto(view[done:])
            if not got:
                raise changed(self._path)
            done += got
        if stop == self._size and done and self.text[done - 1] != NEWLINE:
            self.text[done] = NEWLINE
            done += 1
        return done


@dataclass(frozen=True, eq=False)
class Blocks:
    """Where a file is cut into blocks of whole lines.

    Parameters
    ----------
    path : Path
    starts : ndarray of shape (n_blocks + 1,), int64
        Block b holds the bytes starts[b]:starts[b + 1].
    rows : ndarray of shape (n_blocks + 1,), int64
        The rows before each block: lines that are neither blank nor only a comment.
    lines : ndarray of shape (n_blocks + 1,), int64
        The newlines before each block.
    """

    path: Path
    starts: np.ndarray
    rows: np.ndarray
    lines: np.ndarray

    @property
    def size(self) -> int:
        return int(self.starts[-1])

    @property
    def count(self) -> int:
        return len(self.starts) - 1

    @property
    def longest(self) -> int:
        return int(np.diff(self.starts).max(initial=0))

    @property
    def ends_in_newline(self) -> bool:
        """Whether the file ends in a newline; if not, its last line is a block of its own."""
        return bool(self.lines[-1] > self.lines[-2])

    def each(self, work: Callable[[BlockReader, int], bool]) -> None:
        """Call work(reader, block) for all blocks; several threads take them in order.

        A thread stops when its work returns False.
        """
        _take_turns(self.path, self.size, self.longest, self.count, work)

    def load(self, reader: BlockReader, block: int) -> int:
        """Read a block into the reader's buffer; return its length with the newline."""
        return reader.read(int(self.starts[block]), int(self.starts[block + 1]))

    def text(self, block: int) -> bytes:
        with BlockReader(self.path, self.size, self.longest) as reader:
            return reader.text[: self.load(reader, block)].tobytes()


def changed(path: Path) -> Exception:
    return file_error(path, "a file that changed while it was read", "one that stays as it is")


def cut_into_blocks(path: Path, size: int, block: int) -> Blocks:
    """Cut a file of `size` > 0 bytes at newlines into blocks of about `block` bytes."""
    n_raw = -(-size // block)
    found = np.zeros((n_raw, 3), dtype=np.int64)

    def count(reader: BlockReader, number: int) -> bool:
        start = number * block
        length = min(block, size - start)
        if reader.read(start, min(start + length + 1, size)) == length:
            reader.text[length] = NO_BLANK
        count_lines(reader.text, length, found[number])
        found[number, 1] += start
        if number == 0:
            found[0, 2] += reader.text[0] <= HASH
        return True

    _take_turns(path, size, block + 1, n_raw, count)
    return _blocks(path, size, found)


def _blocks(path: Path, size: int, found: np.ndarray) -> Blocks:
    ended = found[found[:, 0] > 0]
    starts = np.concatenate([[0], ended[:, 1]])
    rows, lines, odd = ended[:, 0].copy(), ended[:, 0], ended[:, 2] > 0
    if starts[-1] < size:
        starts, lines = np.append(starts, size), np.append(lines, 0)
        rows, odd = np.append(rows, 1), np.append(odd, True)
    # the block before has looked at how a block's first line begins
    odd[1:] |= odd[:-1].copy()
    odd[0] |= found[0, 2] > 0
    blocks = Blocks(path, starts, _sums(rows), _sums(lines))
    if blocks.longest > LONGEST_LINE:
        raise file_error(path, "a line of more than 64 MB", "lines of text")
    _count_odd_blocks(blocks, rows, odd)
    return Blocks(path, starts, _sums(rows), _sums(lines))


def _count_odd_blocks(blocks: Blocks, rows: np.ndarray, odd: np.ndarray) -> None:
    if not odd.any():
        return

    def recount(reader: BlockReader, block: int) -> bool:
        if odd[block]:
            rows[block] = count_rows(reader.text, blocks.load(reader, block))
        return True

    blocks.each(recount)


def _take_turns(
    path: Path, size: int, longest: int, total: int, work: Callable[[BlockReader, int], bool]
) -> None:
    turns = itertools.count()

    def take(_start: int, _stop: int) -> None:
        with BlockReader(path, size, longest) as reader:
            while (turn := next(turns)) < total and work(reader, turn):
                pass

    parallel_for(take, min(thread_count(), total))


def _sums(counts: np.ndarray) -> np.ndarray:
    return np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
