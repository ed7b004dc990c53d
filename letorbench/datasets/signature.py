"""What tells that a file is still the one that was read, without reading it."""

from __future__ import annotations

import os
import time
from pathlib import Path

from letorbench.errors import DataError

#: a file system's clock may tick this slowly: two changes within it can look the same
TICK_NS = 20_000_000

Signature = tuple[int, int, int, int]


def signature(path: Path) -> Signature:
    """(size, mtime_ns, ctime_ns, inode) of a file; DataError where there is no such file."""
    try:
        found = os.stat(path)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def settled_signature(path: Path) -> Signature:
    """The signature once any later change must show in it: a tick after the last change."""
    found = signature(path)
    if abs(time.time_ns() - found[2]) < TICK_NS:
        time.sleep(TICK_NS / 1e9)
        return signature(path)
    return found
