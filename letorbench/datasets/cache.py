"""Parsed files kept as memory-mapped `.npy`, found by what the text files hold.

A cache folder has three parts: `entries/<digest>` (the arrays of a list of files),
`sources` (which content a path had when its signature was such) and `facts` (small results
about files). Everything is written beside its place and renamed; whatever is damaged, stale
or of another version is built again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.datasets import mapped
from letorbench.datasets.queryset import QuerySet
from letorbench.datasets.reader import ReadOptions, read_queries
from letorbench.datasets.signature import Signature, settled_signature, signature
from letorbench.datasets.text.blocks import changed
from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.threads import in_turn

JSON = Any

#: part of every key: another reader or layout makes other entries
VERSION = "1"
HASHED_AT_A_TIME = 1 << 20


class Cache:
    """Query sets and facts about files, each computed once for a content."""

    def __init__(self, folder: Path) -> None:
        self._folder = Path(folder)

    def queries(
        self, files: Sequence[Path], options: ReadOptions = ReadOptions()
    ) -> tuple[QuerySet, np.ndarray]:
        """One query set of all files in their order, and (len(files) + 1,) query boundaries.

        Query q of file i is query boundaries[i] + q of the set. A file that is listed twice
        is parsed once; a set narrower than the widest has 0 for the features it lacks. The
        arrays are mapped copy-on-write. Raises DataError as `read_queries` does.
        """
        files = [Path(file) for file in files]
        distinct = list(dict.fromkeys(files))
        signatures, digests = zip(*in_turn([partial(self._digest, file) for file in distinct]))
        digest_of = dict(zip(distinct, digests))
        place = self._folder / "entries" / _key([digest_of[file] for file in files], options)
        found = mapped.load(place)
        if found is None:
            parts = _read_all(dict(zip(distinct, signatures)), options)
            joined = _join([parts[file] for file in files])
            del parts
            try:
                found = mapped.store(place, joined)
            except OSError as error:
                raise DataError(
                    f"{self._folder}: cannot write the cache: {error.strerror}"
                ) from None
        bounds = found.pop("bounds")
        return QuerySet(**found), bounds

    def remember(
        self, key: str, files: Sequence[Path], compute: Callable[[], JSON]
    ) -> JSON:
        """A fact about the files' contents, computed again when a signature has changed.

        The value is what JSON makes of it, also when it has just been computed.
        """
        paths = [str(Path(file).resolve()) for file in files]
        place = self._folder / "facts" / f"{_hash([VERSION, key, *paths])}.json"
        signatures = [list(signature(Path(file))) for file in files]
        known = _read_json(place)
        if known is not None and known.get("signatures") == signatures and "value" in known:
            return known["value"]
        signatures = [list(settled_signature(Path(file))) for file in files]
        text = json.dumps({"signatures": signatures, "value": compute()})
        if signatures == [list(signature(Path(file))) for file in files]:
            _write(place, text)
        return json.loads(text)["value"]

    def size(self) -> int:
        """Bytes of all the cache's files."""
        return sum(p.lstat().st_size for p in self._folder.rglob("*") if p.is_file())

    def _digest(self, file: Path) -> tuple[Signature, str]:
        """The file's signature and what its content hashes to, remembered by the former."""
        path = str(file.resolve())
        place = self._folder / "sources" / f"{_hash([path])}.json"
        now = signature(file)
        known = _read_json(place)
        if known is not None and known.get("signature") == list(now):
            return now, str(known.get("digest"))
        now = settled_signature(file)
        digest = _hash_file(file)
        if signature(file) != now:
            raise changed(file)
        _write(place, json.dumps({"path": path, "signature": now, "digest": digest}))
        return now, digest


def _write(place: Path, text: str) -> None:
    """Note something that can be found out again: a cache that is not writable goes without."""
    with contextlib.suppress(OSError), write_atomically(place) as file:
        file.write(text)


def _read_all(
    signatures: dict[Path, Signature], options: ReadOptions
) -> dict[Path, QuerySet]:
    """Each file's queries; the files must still be those that were hashed."""
    parts = {}
    for file, expected in signatures.items():
        parts[file] = read_queries(file, options)
        if signature(file) != expected:
            raise changed(file)
    return parts


def _join(parts: Sequence[QuerySet]) -> dict[str, list[np.ndarray]]:
    """The arrays of an entry, each as the pieces that follow one another in its file."""
    width = max(part.n_features for part in parts)
    docs = np.cumsum([0] + [part.n_docs for part in parts])
    arrays = {
        "features": [_widen(part.features, width) for part in parts],
        "labels": [part.labels for part in parts],
        "offsets": [np.zeros(1, np.int64)]
        + [part.offsets[1:] + before for part, before in zip(parts, docs)],
        "qids": [part.qids for part in parts],
        "bounds": [np.cumsum([0] + [part.n_queries for part in parts]).astype(np.int64)],
    }
    if any(part.docids is not None for part in parts):
        ids = [np.zeros(p.n_docs, "S1") if p.docids is None else p.docids for p in parts]
        longest = max(i.dtype.itemsize for i in ids)
        arrays["docids"] = [i.astype(f"S{longest}") for i in ids]
    return arrays


def _widen(features: np.ndarray, width: int) -> np.ndarray:
    if features.shape[1] == width:
        return features
    wide = np.zeros((len(features), width), dtype=np.float32)
    wide[:, : features.shape[1]] = features
    return wide


def _key(digests: list[str], options: ReadOptions) -> str:
    null = options.null if isinstance(options.null, str) else float(options.null)
    settings = json.dumps([null, options.n_features])
    return _hash([VERSION, settings, *digests])


def _hash(parts: Sequence[str]) -> str:
    return hashlib.blake2b(json.dumps(list(parts)).encode(), digest_size=16).hexdigest()


def _hash_file(file: Path) -> str:
    digest = hashlib.blake2b(digest_size=32)
    try:
        with open(file, "rb", buffering=0) as source:
            while piece := source.read(HASHED_AT_A_TIME):
                digest.update(piece)
    except OSError as error:
        raise DataError(f"{file}: cannot be read: {error.strerror}") from None
    return digest.hexdigest()


def _read_json(place: Path) -> dict[str, JSON] | None:
    """The object in a file; None if there is none or it is damaged."""
    try:
        value = json.loads(place.read_bytes())
    except (OSError, ValueError):
        return None
    return value if isinstance(value, dict) else None
