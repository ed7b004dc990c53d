"""A folder of `.npy` files that is whole or not there, opened by mapping it.

`meta.json` holds the folder's name, the signature and the checksum of each array's file, and a
digest of all that. A file of that signature is trusted unread. Another one, as in a cache that was
copied, must have that checksum; its signature is then noted.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.checksum import checked, with_checksum
from letorbench.datasets.signature import TICK_NS, is_settled, signature
from letorbench.files import unfinished_folder, write_atomically

META = "meta.json"
CHECKED_AT_A_TIME = 1 << 20


def load(place: Path) -> dict[str, np.ndarray] | None:
    """Return the arrays of a folder, mapped copy-on-write; None if it is missing or damaged."""
    return _load(place, place.name)


def store(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    """Write arrays, each given as pieces along the first axis, and map them.

    The folder is written beside its place and renamed. It replaces a damaged one, or an equal
    one that another process has just put there; who has mapped that keeps its arrays.

    Raises
    ------
    OSError
        If nothing can be written.
    """
    try:
        return _stored(place, arrays)
    except OSError as error:
        raise OSError(error.errno, error.strerror, str(place)) from None


def _stored(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    with unfinished_folder(place.with_name(f".new-{place.name}")) as new:
        written = {name: _write(_file(new, name), pieces) for name, pieces in arrays.items()}
        # from now on every change of a file changes its signature
        time.sleep(TICK_NS / 1e9)
        _note(new, place.name, {name: _facts(new, name, written[name]) for name in arrays})
        found = _load(new, place.name)
        if found is None:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        try:
            new.rename(place)
        except OSError:  # the place is taken
            shutil.rmtree(place, ignore_errors=True)
            with contextlib.suppress(OSError):  # another process was faster
                new.rename(place)
        # mapped by its lasting name, worker processes can map it too
        return load(place) or found


def _load(folder: Path, name: str) -> dict[str, np.ndarray] | None:
    try:
        meta = checked((folder / META).read_bytes())
        if meta is None or meta["name"] != name:
            return None
        known = meta["arrays"]
        facts = {each: _facts(folder, each, known[each]) for each in known}
        # plain arrays on the mapping: kernels are compiled for that type
        found = {each: np.asarray(np.load(_file(folder, each), mmap_mode="c")) for each in known}
    except (OSError, ValueError):
        return None
    if facts != known and all(is_settled(tuple(each["signature"])) for each in facts.values()):
        with contextlib.suppress(OSError):
            _note(folder, name, facts)
    return found


def _write(path: Path, pieces: Sequence[np.ndarray]) -> dict[str, Any]:
    """Write the pieces as one array; return the size and the checksum that the file must have."""
    first = pieces[0]
    shape = (sum(len(piece) for piece in pieces), *first.shape[1:])
    with open(path, "wb") as file:
        header = {"descr": first.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        file.flush()
        checksum = _checksum(path)
        for piece in pieces:
            content = np.ascontiguousarray(piece, first.dtype).reshape(-1).view(np.uint8).data
            checksum = zlib.crc32(content, checksum)
            file.write(content)
        file.flush()
        os.fsync(file.fileno())
        return {"signature": [file.tell()], "crc32": checksum}


def _note(folder: Path, name: str, facts: Mapping[str, Any]) -> None:
    with write_atomically(folder / META) as file:
        file.write(with_checksum({"name": name, "arrays": facts}))


def _facts(folder: Path, name: str, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known of an array's file with its signature now; ValueError if damaged."""
    path = _file(folder, name)
    now = list(signature(path))
    if now != known["signature"]:
        if now[0] != known["signature"][0] or _checksum(path) != known["crc32"]:
            raise ValueError(f"{path}: damaged")
    return {"signature": now, "crc32": known["crc32"]}


def _file(folder: Path, name: str) -> Path:
    return folder / f"{name}.npy"


def _checksum(path: Path) -> int:
    checksum = 0
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(CHECKED_AT_A_TIME):
            checksum = zlib.crc32(piece, checksum)
    return checksum
