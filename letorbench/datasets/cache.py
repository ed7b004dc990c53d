"""Parsed files kept as memory-mapped `.npy`, found by what the text files hold.

A cache folder has two parts: `entries/<digest>`, the arrays of a list of files, and `notes`,
what was found out about files of a certain signature, such as the digest of their content.
Everything is written beside its place and renamed, and has check sums that hold its name too.
Whatever is damaged, exchanged, stale or of another version is built again, so the folder can be
deleted at any time. Where the data may only be read, every process reads the text anew.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.checksum import checked, with_checksum
from letorbench.datasets import mapped
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import READ_STRICTLY, ReadOptions, read_queries
from letorbench.datasets.signature import is_settled, signature
from letorbench.datasets.text.blocks import changed
from letorbench.datasets.text.read_checks import require_room
from letorbench.errors import DataError, WriteError
from letorbench.files import write_atomically
from letorbench.threads import run_tasks

JSON = Any

#: part of every key: another reader or layout makes other entries
VERSION = "4"
HASHED_AT_A_TIME = 1 << 20
#: the errors of a place that may not be written, such as another user's data
READ_ONLY = (errno.EROFS, errno.EACCES, errno.EPERM)
#: what every entry holds
ARRAYS = {"features", "labels", "offsets", "qids", "bounds"}


class Cache:
    """Query sets and facts about files, each computed once for a content."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    def queries(
        self, files: Sequence[Path], options: ReadOptions = READ_STRICTLY
    ) -> tuple[QuerySet, np.ndarray]:
        """Return one query set of all files in their order.

        A file that is listed twice is parsed once. A file with fewer features than the widest
        has 0 for those that it lacks. The arrays are mapped copy-on-write.

        Parameters
        ----------
        files : sequence of Path
        options : ReadOptions

        Returns
        -------
        whole : QuerySet
        bounds : ndarray of shape (len(files) + 1,), int64
            File i owns the queries bounds[i]:bounds[i + 1].

        Raises
        ------
        DataError
            As `read_queries` does, and where there is too little memory.
        WriteError
            Where the cache cannot be written.
        """
        files = [Path(file) for file in files]
        distinct = list(dict.fromkeys(files))
        before = [signature(file) for file in distinct]
        digest_of = dict(zip(distinct, run_tasks([partial(self._digest, f) for f in distinct])))
        place = self._folder / "entries" / _key([digest_of[file] for file in files], options)
        found = mapped.load(place)
        if found is None or not ARRAYS <= found.keys():
            parts = {file: read_queries(file, options) for file in distinct}
            for file, expected in zip(distinct, before):
                if signature(file) != expected:
                    raise changed(file)
            _require_room(parts)
            found = _kept(place, _join([parts[file] for file in files]))
        bounds = found.pop("bounds")
        return QuerySet(**found), bounds

    def remember(self, key: str, files: Sequence[Path], compute: Callable[[], JSON]) -> JSON:
        """Return a fact about the files' contents, computed again when a signature changes.

        Nothing is noted of a file that changed a moment ago, since the next change might leave
        its signature as it is.

        Parameters
        ----------
        key : str
            What the fact is.
        files : sequence of Path
        compute : callable
            Returns the fact: anything that JSON can hold.

        Returns
        -------
        JSON
            What JSON makes of the fact, also when it has just been computed.
        """
        files = [Path(file) for file in files]
        place = self._folder / "notes" / f"{_hash([key, *(str(f.resolve()) for f in files)])}.json"
        before = [list(signature(file)) for file in files]
        known = _read_note(place)
        if known is not None and known["signatures"] == before:
            return known["value"]
        settled = all(is_settled(tuple(found)) for found in before)
        value = json.loads(json.dumps(compute()))
        if settled and before == [list(signature(file)) for file in files]:
            # a cache that cannot be written goes without notes
            with contextlib.suppress(OSError), write_atomically(place) as note:
                note.write(
                    with_checksum({"name": place.name, "signatures": before, "value": value})
                )
        return value

    def size(self) -> int:
        """Return the bytes of all the cache's files."""
        return sum(p.lstat().st_size for p in self._folder.rglob("*") if p.is_file())

    def _digest(self, file: Path) -> str:
        return self.remember("digest", [file], partial(_hash_file, file))


def _kept(place: Path, arrays: Mapping[str, Sequence[np.ndarray]]) -> dict[str, np.ndarray]:
    """Store the arrays; where the data may only be read, hold them in memory."""
    try:
        return mapped.store(place, arrays)
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise WriteError(error.filename, error) from None
    return {name: np.concatenate(pieces) for name, pieces in arrays.items()}


def _join(parts: Sequence[QuerySet]) -> dict[str, list[np.ndarray]]:
    """Return the arrays of an entry, each as the pieces that follow one another in its file."""
    width = max(part.n_features for part in parts)
    docs = np.cumsum([0] + [part.n_docs for part in parts])
    arrays = {
        "features": [_widen(part.features, width) for part in parts],
        "labels": [part.labels for part in parts],
        "offsets": [np.zeros(1, np.int64)]
        + [part.offsets[1:] + before for part, before in zip(parts, docs)],
        "qids": _as_wide([part.qids for part in parts]),
        "bounds": [np.cumsum([0] + [part.n_queries for part in parts]).astype(np.int64)],
    }
    if any(part.docids is not None for part in parts):
        ids = [np.zeros(p.n_docs, "S1") if p.docids is None else p.docids for p in parts]
        arrays["docids"] = _as_wide(ids)
    return arrays


def _as_wide(texts: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Return arrays of text of one type, as wide as the widest."""
    return [each.astype(np.result_type(*texts), copy=False) for each in texts]


def _require_room(parts: Mapping[Path, QuerySet]) -> None:
    """Raise DataError where the widest file makes all others too large for the memory."""
    widest = max(parts, key=lambda file: parts[file].n_features)
    width, docs = parts[widest].n_features, sum(part.n_docs for part in parts.values())
    require_room(widest, width, docs)


def _widen(features: np.ndarray, width: int) -> np.ndarray:
    if features.shape[1] == width:
        return features
    wide = np.zeros((len(features), width), dtype=np.float32)
    wide[:, : features.shape[1]] = features
    return wide


def _key(digests: list[str], options: ReadOptions) -> str:
    null = options.null if isinstance(options.null, str) else float(options.null)
    return _hash([json.dumps([null, options.n_features]), *digests])


def _hash(parts: Sequence[str]) -> str:
    text = json.dumps([VERSION, *parts])
    return hashlib.blake2b(text.encode(), digest_size=16).hexdigest()


def _hash_file(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=32)
    try:
        with open(file, "rb", buffering=0) as source:
            while piece := source.read(HASHED_AT_A_TIME):
                digest.update(piece)
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _read_note(place: Path) -> dict[str, JSON] | None:
    """Return the note of that name; None if there is none, or it is damaged or of another name."""
    try:
        note = checked(place.read_bytes())
    except OSError:
        return None
    return note if note is not None and note.get("name") == place.name else None
