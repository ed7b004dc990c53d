"""Parsed files kept as memory-mapped `.npy`, found by the content of the text files.

A cache folder has two parts: `entries/<digest>`, the arrays of a list of files, and `notes`,
facts about files of a certain signature, such as the digest of their content. Files are written
beside their place and renamed. Entries that are damaged, stale or of another version are built
again, so the folder can be deleted at any time. If the data are read-only, every process reads the
text anew.
"""

import contextlib
import errno
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.compiled.threads import run_tasks
from letorbench.datasets.folds import arrays_of, files_digest
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import USUAL, ReadOptions, read_queries
from letorbench.datasets.text.mistakes import changed
from letorbench.errors import DataError, WriteError
from letorbench.files import unfinished_folder, write_atomically

#: part of every key: another reader or layout makes other entries
VERSION = "5"
#: the errors of a place that may not be written, such as another user's data
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
#: the clock of a file system may tick this slowly: two changes within a tick can look the same
TICK_NS = 20_000_000
META = "meta.json"


@dataclass(frozen=True)
class Cache:
    """Query sets and facts about files, each computed once for a content."""

    folder: Path

    def queries(
        self, files: Sequence[Path], options: ReadOptions = USUAL
    ) -> tuple[QuerySet, np.ndarray]:
        """Return one query set of all files; file i owns the queries bounds[i]:bounds[i + 1]."""
        distinct = list(dict.fromkeys(files))
        before = [signature(file) for file in distinct]
        digests = [
            partial(self.remember, "digest", [file], partial(files_digest, [file]))
            for file in distinct
        ]
        digest_of = dict(zip(distinct, run_tasks(digests)))

        def read() -> list[QuerySet]:
            parts = {file: read_queries(file, options) for file in distinct}
            for file, expected in zip(distinct, before):
                if signature(file) != expected:
                    raise changed(file)
            return [parts[file] for file in files]

        return self._kept([json.dumps(astuple(options)), *(digest_of[f] for f in files)], read)

    def parts(
        self, key: str, whole: QuerySet, parts: Sequence[np.ndarray]
    ) -> tuple[QuerySet, np.ndarray]:
        """Return parts of a query set, the numbers of their queries, as one, as `queries` does."""
        numbers = hashlib.blake2b(np.concatenate(parts).astype("<i8").tobytes()).hexdigest()
        key_of_parts = [key, numbers, *(str(len(part)) for part in parts)]
        # their order is that of their files from now on: no caller has another one
        return self._kept(
            key_of_parts, lambda: [replace(whole.take(part), rows=None) for part in parts]
        )

    def _kept(
        self, key: Sequence[str], compute: Callable[[], Sequence[QuerySet]]
    ) -> tuple[QuerySet, np.ndarray]:
        """Return query sets as one, computed once for a key, and the bounds of each in it."""
        place = self.folder / "entries" / _hash(key)
        arrays = _load(place)
        if arrays is None:
            sets = compute()
            bounds = np.cumsum([0] + [each.n_queries for each in sets]).astype(np.int64)
            arrays = _store(place, {**arrays_of(sets), "bounds": [bounds]})
        bounds = arrays.pop("bounds")
        return QuerySet(**arrays), bounds

    def remember(self, key: str, files: Sequence[Path], compute: Callable[[], Any]) -> Any:
        """Return a fact about the files' contents, as JSON; computed again if a signature changes.

        No fact is kept of a file that changed a moment ago: the next change might leave its
        signature as it is.
        """
        place = self.folder / "notes" / f"{_hash([key, *(str(f.resolve()) for f in files)])}.json"
        before = [signature(file) for file in files]
        known = _read_json(place)
        if known is not None and known.get("signatures") == before and "value" in known:
            return known["value"]
        settled = all(abs(time.time_ns() - each[2]) > TICK_NS for each in before)
        value = json.loads(json.dumps(compute()))
        if settled and before == [signature(file) for file in files]:
            # a cache that cannot be written goes without notes
            with contextlib.suppress(OSError), write_atomically(place) as note:
                json.dump({"signatures": before, "value": value}, note)
        return value

    def size(self) -> int:
        """Return the bytes of all the cache's files."""
        return sum(p.lstat().st_size for p in self.folder.rglob("*") if p.is_file())


def signature(path: Path) -> list[int]:
    """Return size, mtime_ns, ctime_ns and inode of a file.

    An edit changes the ctime even if it keeps the size and restores the mtime.
    """
    try:
        status = os.stat(path)
    except FileNotFoundError:
        raise DataError(f"{path}: found no such file, expected a data file") from None
    except OSError as error:
        raise DataError(f"{path}: cannot be read: {error.strerror}") from None
    return [status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino]


def _load(folder: Path) -> dict[str, Any] | None:
    """Return the arrays of a folder, mapped read-only; None if it is missing or changed."""
    meta = _read_json(folder / META)
    try:
        if meta is None or any(signature(folder / file) != meta[file] for file in meta):
            return None
        # plain arrays on the mapping: kernels are compiled for that type
        return {
            file.removesuffix(".npy"): np.asarray(np.load(folder / file, mmap_mode="r"))
            for file in meta
        }
    except (OSError, ValueError):
        return None


def _store(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, Any]:
    """Write arrays, given as pieces along the first axis, and map them; if read-only, join them."""
    try:
        with unfinished_folder(place.with_name(f".new-{place.name}")) as new:
            for name, pieces in arrays.items():
                _write(new / f"{name}.npy", pieces)
            meta = {f"{name}.npy": signature(new / f"{name}.npy") for name in arrays}
            (new / META).write_text(json.dumps(meta))
            shutil.rmtree(place, ignore_errors=True)
            new.rename(place)
        stored = _load(place)
        if stored is not None:
            return stored
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise WriteError(place, error) from None
    return {name: np.concatenate(pieces) for name, pieces in arrays.items()}


def _write(path: Path, pieces: Sequence[np.ndarray]) -> None:
    shape = (sum(len(piece) for piece in pieces), *pieces[0].shape[1:])
    dtype = np.result_type(*pieces)
    with open(path, "wb") as file:
        header = {"descr": dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(file, header)
        for piece in pieces:
            file.write(np.ascontiguousarray(piece, dtype).reshape(-1).view(np.uint8).data)
        file.flush()
        os.fsync(file.fileno())


def _hash(parts: Sequence[str]) -> str:
    text = json.dumps([VERSION, *parts])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _read_json(path: Path) -> dict[str, Any] | None:
    """Return the object in a JSON file; None if there is none."""
    try:
        content = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return None
    return content if isinstance(content, dict) else None
