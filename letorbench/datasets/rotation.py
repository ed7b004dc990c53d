"""Whether the folds are rotations of parts, and what their content hashes to."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from pathlib import Path

from letorbench.datasets.layout import FoldFiles

_BLOCK = 1 << 20


def parts(folds: Sequence[FoldFiles]) -> tuple[Path, ...] | None:
    """The parts' files S1..Sn, were the folds a rotation; None where there can be none.

    With n folds, fold k trains on the parts k .. k+n-3, validates on k+n-2 and tests on
    k+n-1, counted round: part j is the test file of fold j+1.
    """
    if len(folds) < 3 or any(files.validation is None for files in folds):
        return None
    return tuple(folds[(j + 1) % len(folds)].test for j in range(len(folds)))


def is_rotation(folds: Sequence[FoldFiles]) -> bool:
    """Whether every train and validation file is, byte for byte, what the rotation says."""
    files = parts(folds)
    if files is None:
        return False
    n = len(files)
    claims = [([fold.validation], [files[(k + n - 2) % n]]) for k, fold in enumerate(folds)]
    claims += [
        ([fold.train], [files[(k + i) % n] for i in range(n - 2)]) for k, fold in enumerate(folds)
    ]
    if any(_size(whole) != _size(pieces) for whole, pieces in claims):
        return False
    return all(_equal(whole, pieces) for whole, pieces in claims)


def digest(files: Sequence[Path]) -> str:
    """blake2b (128 bits) of the files' bytes and sizes in the order given, as hex."""
    state = hashlib.blake2b(digest_size=16)
    for path in files:
        state.update(path.stat().st_size.to_bytes(8, "little"))
        for block in _blocks([path]):
            state.update(block)
    return state.hexdigest()


def _size(files: Sequence[Path]) -> int:
    return sum(path.stat().st_size for path in files)


def _equal(whole: Sequence[Path], pieces: Sequence[Path]) -> bool:
    return all(one == other for one, other in zip(_blocks(whole), _blocks(pieces), strict=True))


def _blocks(files: Sequence[Path]) -> Iterator[bytes]:
    """The bytes of the files one after another, in blocks of one size but for the last."""
    held = b""
    for path in files:
        with path.open("rb") as file:
            while block := file.read(_BLOCK - len(held)):
                held += block
                if len(held) == _BLOCK:
                    yield held
                    held = b""
    if held:
        yield held
