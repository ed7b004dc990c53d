"""Models in files: arrays and JSON in a zip archive, no pickle, with a check sum of every byte."""

from __future__ import annotations

import io
import json
import math
import tokenize
import zipfile
import zlib
from dataclasses import fields
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.models.base import KINDS, Model

#: what reading a damaged file can raise
DAMAGE = (
    OSError, ValueError, LookupError, TypeError, EOFError, OverflowError, RecursionError,
    MemoryError, RuntimeError, SyntaxError, tokenize.TokenError, zipfile.BadZipFile, zlib.error,
)  # fmt: skip
#: where the comment of a zip archive has its length, before the comment at the archive's end
_LENGTH = 2


def save(model: Model, path: Path, facts: dict[str, object] | None = None) -> None:
    """Write a model, and JSON facts of its making, as one .npz file of plain arrays.

    The archive's comment is a check sum of the rest of the file.
    """
    arrays = {f.name: np.asarray(getattr(model, f.name)) for f in fields(model)}
    header = json.dumps({"kind": model.kind, "facts": facts or {}})
    archive = io.BytesIO()
    np.savez(archive, header=np.array(header), **arrays)
    with write_atomically(path, binary=True) as file:
        file.write(sealed(archive.getvalue()))


def sealed(archive: bytes) -> bytes:
    """Return a zip archive that has no comment with its check sum as the comment."""
    seal = _seal(archive)
    return archive[:-_LENGTH] + len(seal).to_bytes(_LENGTH, "little") + seal


def _seal(archive: bytes) -> bytes:
    return b"blake2b " + blake2b(archive, digest_size=16).hexdigest().encode()


def _unsealed(path: Path) -> io.BytesIO:
    """Return the archive of a file whose check sum holds."""
    data = path.read_bytes()
    archive = data[: -len(_seal(b"")) - _LENGTH] + bytes(_LENGTH)
    if data != sealed(archive):
        raise DataError(
            "found no saved model, or a damaged one: its end is not the check sum of its content"
        )
    return io.BytesIO(archive)


def load(path: Path) -> tuple[Model, dict[str, Any]]:
    """Read what `save` wrote.

    Nothing is unpickled or unpacked, and no array is larger than its bytes in the file.
    A file of which any byte was changed is refused.

    Returns
    -------
    model : Model
    facts : dict

    Raises
    ------
    DataError
        If the file is anything else, with one line that says what is wrong.
    """
    try:
        with zipfile.ZipFile(_unsealed(path)) as archive:
            kind, facts = _read_header(archive)
            names = {f"{each.name}.npy" for each in fields(KINDS[kind])}
            found = [name for name in archive.namelist() if name != "header.npy"]
            if sorted(found) != sorted(names):
                raise DataError(
                    f"found the arrays {', '.join(sorted(found))} in a {kind} model, "
                    f"expected {', '.join(sorted(names))}"
                )
            arrays = {name.removesuffix(".npy"): _read_array(archive, name) for name in names}
        for name, values in arrays.items():
            if values.dtype.kind == "f" and not np.isfinite(values).all():
                raise DataError(f"found NaN or infinity in {name}, expected finite numbers")
        return KINDS[kind](**arrays), facts
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
    except DAMAGE as error:
        raise DataError(f"{path}: found no saved model, expected one that a run left") from error


def _read_header(archive: zipfile.ZipFile) -> tuple[str, dict[str, object]]:
    header = json.loads(str(_read_array(archive, "header.npy")))
    kind, facts = header["kind"], header["facts"]
    if not isinstance(kind, str) or kind not in KINDS:
        raise DataError(
            f"found a model of kind {kind!r}, expected one of {', '.join(KINDS)}; "
            "a plug-in's model needs its --plugin"
        )
    if not isinstance(facts, dict):
        raise DataError(f"found {type(facts).__name__} for the facts of the model, expected dict")
    return kind, facts


def _read_array(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    """Read a stored .npy member whose shape is checked before anything is allocated."""
    member = archive.getinfo(name)
    if member.compress_type != zipfile.ZIP_STORED:
        raise DataError(f"found {name} compressed, expected plain arrays")
    data = archive.read(member)
    start = io.BytesIO(data)
    if np.lib.format.read_magic(start) != (1, 0):
        raise DataError(f"found another version of the .npy format in {name}, expected 1.0")
    shape, fortran, dtype = np.lib.format.read_array_header_1_0(start)
    size, held = math.prod(shape) * dtype.itemsize, len(data) - start.tell()
    if dtype.hasobject or not dtype.itemsize or min(shape, default=0) < 0 or size != held:
        raise DataError(
            f"found {name} of shape {shape} and type {dtype}, {size} bytes, in {held} bytes"
        )
    if size == 0:
        return np.empty(shape, dtype)
    return np.ndarray(shape, dtype, data, start.tell(), order="F" if fortran else "C")
