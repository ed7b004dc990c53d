"""What tells that a file is still the one that was read, without reading it again."""

from __future__ import annotations

import os
import time
from pathlib import Path

from letorbench.errors import DataError

#: the clock of a file system may tick this slowly: two changes within a tick can look the same
TICK_NS = 20_000_000

Signature = tuple[int, int, int, int]


def signature(path: Path) -> Signature:
    """Return (size, mtime_ns, ctime_ns, inode) of a file; DataError where there is none.

    An edit changes the ctime even where it keeps the size and restores the mtime.
    """
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def is_settled(found: Signature) -> bool:
    """Return whether a change from now on must show in the signature."""
    return abs(time.time_ns() - found[2]) > TICK_NS
