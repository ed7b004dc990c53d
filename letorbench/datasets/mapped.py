"""A folder of `.npy` files that is whole or not there, opened by mapping it.

`meta.json` holds the signature and the checksum of each array's file. A file of that signature
is trusted unread. Another one, as in a cache that was copied, must have that checksum.
"""

from __future__ import annotations

import contextlib
import errno
import json
import os
import shutil
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.signature import signature
from letorbench.files import umask, unfinished_folder, write_atomically

META = "meta.json"
#: what the names of unfinished folders begin with
UNFINISHED = ".new-"
CHECKED_AT_A_TIME = 1 << 20


def load(place: Path) -> dict[str, np.ndarray] | None:
    """Return the arrays of a folder, mapped copy-on-write; None if it is missing or damaged."""
    try:
        meta = json.loads((place / META).read_bytes())
        if not all(_is_whole(place / f"{name}.npy", known) for name, known in meta.items()):
            return None
        # plain arrays on the mapping: kernels are compiled for that type
        return {name: np.asarray(np.load(place / f"{name}.npy", mmap_mode="c")) for name in meta}
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def store(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    """Write arrays, each given as pieces along the first axis, and map them.

    The folder is written beside its place and renamed. It replaces a damaged one, or an equal
    one that another process has just put there; who has mapped that keeps its arrays.

    Raises
    ------
    OSError
        If nothing can be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    with unfinished_folder(place.parent, UNFINISHED) as new:
        new.chmod(0o777 & ~umask())
        meta = {name: _write(new / f"{name}.npy", pieces) for name, pieces in arrays.items()}
        with write_atomically(new / META) as file:
            json.dump(meta, file)
        found = load(new)
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


def _write(path: Path, pieces: Sequence[np.ndarray]) -> dict[str, object]:
    """Write the pieces as one array; return what `meta.json` says of the file."""
    first = pieces[0]
    shape = (sum(len(piece) for piece in pieces), *first.shape[1:])
    with open(path, "wb") as file:
        header = {"descr": first.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, first.dtype).reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())
    return {"signature": list(signature(path)), "crc32": _checksum(path)}


def _is_whole(path: Path, known: dict[str, object]) -> bool:
    now = list(signature(path))
    if now == known["signature"]:
        return True
    return now[0] == known["signature"][0] and _checksum(path) == known["crc32"]


def _checksum(path: Path) -> int:
    checksum = 0
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(CHECKED_AT_A_TIME):
            checksum = zlib.crc32(piece, checksum)
    return checksum

