"""One of several equal shares of a run, for machines that share nothing but files.

A cell (data set, algorithm, fold, repeat) belongs to a share by its own names and numbers alone.
So the shares never overlap and miss nothing, also where one machine lacks an algorithm's package.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

from letorbench.errors import UsageError
from letorbench.experiment.plan import Task


@dataclass(frozen=True)
class Shard:
    """The share `number` of `of`, counted from 1."""

    number: int
    of: int

    def __str__(self) -> str:
        return f"{self.number}/{self.of}"

    def has(self, task: Task) -> bool:
        """Return whether a task belongs to the share.

        The folds and repeats of an algorithm go round the shares, so that each has its part of
        a slow algorithm; where they begin depends on the algorithm, so that no share has all
        first folds.
        """
        first = zlib.crc32(f"{task.dataset}/{task.algo}".encode())
        return (first + task.fold + task.repeat) % self.of == self.number - 1


def shard(text: str) -> Shard:
    """Read "2/3"; UsageError for anything else.

    Examples
    --------
    >>> shard("2/3")
    Shard(number=2, of=3)
    """
    found = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", text, re.ASCII)
    if found is None or int(found[1]) > int(found[2]):
        raise UsageError(f"shard {text!r}: expected a form like 2/3, the second share of three")
    return Shard(int(found[1]), int(found[2]))
