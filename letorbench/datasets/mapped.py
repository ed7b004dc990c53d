"""A folder of `.npy` files that is whole or not there, opened by mapping it.

`meta.json` holds each array's checksum and its file's signature. An array whose signature
agrees is trusted unread; otherwise its checksum is taken, and what fails it does not count.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import secrets
import shutil
import time
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from letorbench.datasets.signature import settled_signature, signature
from letorbench.errors import DataError
from letorbench.files import write_atomically

META = "meta.json"
#: unfinished folders of killed runs are removed when they are this old
ABANDONED_SECONDS = 86_400
UNFINISHED, REPLACED = ".new-", ".old-"
CHECKED_AT_A_TIME = 1 << 20


def load(place: Path) -> dict[str, np.ndarray] | None:
    """The arrays of a folder, mapped copy-on-write; None if it is not there or damaged."""
    meta = _read_meta(place)
    if meta is None:
        return None
    try:
        if not all([_is_whole(place, name, known) for name, known in meta.items()]):
            return None
        arrays = {name: _map(place / f"{name}.npy") for name in meta}
    except (DataError, OSError, ValueError):
        return None
    if any(known.pop("moved", False) for known in meta.values()):
        with contextlib.suppress(OSError):  # a cache that cannot be written is still read
            _write_meta(place, meta)
    return arrays


def store(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    """Write arrays, each given as pieces along the first axis, and map them.

    Where another process has stored the same meanwhile, its folder is used. OSError where
    nothing can be written.
    """
    place.parent.mkdir(parents=True, exist_ok=True)
    _remove_abandoned(place.parent)
    name = f"{os.getpid()}-{secrets.token_hex(8)}"
    new = place.parent / f"{UNFINISHED}{name}"
    new.mkdir()
    try:
        checksums = {key: _write_array(new, key, arrays[key]) for key in arrays}
        _write_meta(new, {key: _describe(new, key, checksums[key]) for key in checksums})
        return _put(new, place, place.parent / f"{REPLACED}{name}")
    finally:
        shutil.rmtree(new, ignore_errors=True)


def _put(new: Path, place: Path, aside: Path) -> dict[str, np.ndarray]:
    """Rename `new` to its place unless a whole folder is there; what is there, mapped."""
    for last in (False, False, True):
        try:
            new.rename(place)
        except OSError:  # the place is taken
            if last:
                raise
        found = load(place)
        if found is not None:
            return found
        _move_away(place, aside)
    raise OSError(errno.EIO, os.strerror(errno.EIO))


def _map(file: Path) -> np.ndarray:
    # a plain array on the mapping: kernels are compiled for that type
    return np.asarray(np.load(file, mmap_mode="c"))


def _write_array(folder: Path, name: str, pieces: Sequence[np.ndarray]) -> int:
    """Write the pieces as one array; its file's checksum."""
    path = folder / f"{name}.npy"
    first = pieces[0]
    shape = (sum(len(piece) for piece in pieces), *first.shape[1:])
    with open(path, "wb") as file:
        header = {"descr": first.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, first.dtype).reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())
    # taken from what the file system holds, so that a failed write shows
    return _checksum(path)


def _describe(folder: Path, name: str, checksum: int) -> dict[str, object]:
    return {"crc32": checksum, "signature": list(settled_signature(folder / f"{name}.npy"))}


def _is_whole(place: Path, name: str, known: dict[str, object]) -> bool:
    path = place / f"{name}.npy"
    now = list(signature(path))
    if now == known["signature"]:
        return True
    if now[0] != known["signature"][0] or _checksum(path) != known["crc32"]:
        return False
    known.update(signature=now, moved=True)
    return True


def _checksum(path: Path) -> int:
    checksum = 0
    with open(path, "rb", buffering=0) as file:
        while piece := file.read(CHECKED_AT_A_TIME):
            checksum = zlib.crc32(piece, checksum)
    return checksum


def _write_meta(folder: Path, arrays: Mapping[str, object]) -> None:
    body = json.dumps(arrays, sort_keys=True)
    with write_atomically(folder / META) as file:
        json.dump({"digest": _digest(body), "arrays": body}, file)
        file.flush()
        os.fsync(file.fileno())


def _read_meta(place: Path) -> dict[str, dict] | None:
    try:
        meta = json.loads((place / META).read_bytes())
        if meta["digest"] != _digest(meta["arrays"]):
            return None
        return json.loads(meta["arrays"])
    except (OSError, ValueError, TypeError, KeyError, AttributeError):
        return None


def _digest(body: str) -> str:
    return hashlib.blake2b(body.encode(), digest_size=16).hexdigest()


def _move_away(place: Path, aside: Path) -> None:
    """Remove a damaged folder; OSError where that is not possible."""
    try:
        place.rename(aside)
    except FileNotFoundError:  # another process was faster
        return
    shutil.rmtree(aside, ignore_errors=True)


def _remove_abandoned(parent: Path) -> None:
    for folder in parent.iterdir():
        if folder.name.startswith((UNFINISHED, REPLACED)):
            with contextlib.suppress(OSError):
                if time.time() - folder.stat().st_mtime > ABANDONED_SECONDS:
                    shutil.rmtree(folder, ignore_errors=True)
