"""Files that a user names, which need not be plain files.

An input may be a pipe, standard input or a compressed file: it is read once, into a plain file. An
output may be a link, a pipe, a device or standard output: only a plain file is replaced.
"""

import bz2
import lzma
import os
import re
import stat
import sys
import tempfile
import weakref
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from letorbench.errors import DataError, WriteError
from letorbench.files import write_atomically

#: the name of standard input and standard output
DASH = "-"
#: the most bytes of an input that is not a plain file, and of a compressed file's content
MOST_BYTES = 4 << 30
#: bytes that are read at a time; a compressed byte may hold ten thousand
_CHUNK = 1 << 12
_ENDING = re.compile(r"\.(gz|bz2|xz|zst)$", re.IGNORECASE)

if TYPE_CHECKING:
    _Path = Path
else:
    _Path = type(Path())


class _Copy(_Path):
    """The path that the user named; it opens a plain copy of the content."""

    place = ""

    def __fspath__(self) -> str:
        return self.place or str(self)

    @property
    def name(self) -> str:
        return _ENDING.sub("", super().name)


def _zstandard() -> Any:
    try:
        from compression.zstd import ZstdDecompressor
    except ImportError:
        from zstandard import ZstdDecompressor

        return ZstdDecompressor().decompressobj()
    return ZstdDecompressor()


#: the first bytes of compressed files, and the decompressor of one stream of a file
_PACKED: dict[bytes, Callable[[], Any]] = {
    b"\x1f\x8b": partial(zlib.decompressobj, 31), b"BZh": bz2.BZ2Decompressor,
    b"\xfd7zXZ\0": lzma.LZMADecompressor, b"\x28\xb5\x2f\xfd": _zstandard,
}  # fmt: skip


def input_file(path: str | Path, unpack: bool = True) -> Path:
    """Return the path of a plain file with the content of the user's file, under the user's name.

    A plain file stays in place unless it is compressed and `unpack` is true. A copy is removed with
    its path.
    """
    path = path if isinstance(path, Path) else Path(path)
    dash = str(path) == DASH
    try:
        if isinstance(path, _Copy) or not (dash or path.exists()):
            return path
        with open(0 if dash else path, "rb", closefd=not dash) as stream:
            mode = os.fstat(stream.fileno()).st_mode
            if stat.S_ISCHR(mode) and not stream.isatty() and stream.read(1):
                raise DataError(f"{path}: found a device, expected a file or a pipe")
            plain = stat.S_ISREG(mode) and not dash
            regular = path if plain else _copied(path, iter(partial(stream.read, 1 << 20), b""))
        with open(regular, "rb") as file:
            start = file.read(_CHUNK)
            kind = next((each for magic, each in _PACKED.items() if start.startswith(magic)), None)
            return regular if not (unpack and kind) else _copied(path, _unpacked(start, file, kind))
    except ImportError:
        raise DataError(
            f"{path}: found a file of zstandard, which needs a package; "
            "`python -m pip install zstandard` brings it"
        ) from None
    except OSError as error:
        if isinstance(error, WriteError):
            raise
        raise DataError(f"{path}: cannot be read: {error.strerror or error}") from None


def _unpacked(packed: bytes, file: IO[bytes], kind: Callable[[], Any]) -> Iterator[bytes]:
    while packed:
        stream = kind()
        while not stream.eof:
            if not packed:
                raise OSError("its compressed content is cut off")
            try:
                yield stream.decompress(packed)
            except Exception as error:  # each kind has different errors
                raise OSError(f"its compressed content is damaged ({error})") from None
            packed = stream.unused_data or file.read(_CHUNK)
        while packed and not (packed := packed.lstrip(b"\0")):  # tapes pad with zeros
            packed = file.read(_CHUNK)


def _copied(path: Path, chunks: Iterator[bytes]) -> Path:
    """Write the chunks to a separate file."""
    copy, size = _Copy(path), 0
    try:
        descriptor, copy.place = tempfile.mkstemp(prefix="letorbench-")
        weakref.finalize(copy, Path(copy.place).unlink, missing_ok=True)
    except OSError as error:
        raise WriteError("a temporary file", error) from None
    with open(descriptor, "wb", buffering=0) as file:
        for chunk in chunks:
            size += len(chunk)
            if size > MOST_BYTES:
                found = f"found more than {MOST_BYTES >> 30} GB in a pipe or a compressed file"
                raise DataError(f"{path}: {found}, expected less, or a plain file")
            try:
                while chunk:
                    chunk = chunk[file.write(chunk) :]
            except OSError as error:
                raise WriteError(Path(copy.place).parent, error) from None
    return copy


@contextmanager
def open_output(path: str | Path, binary: bool = False) -> Iterator[IO]:
    """Open the user's output file; "-" is standard output. A plain one is written whole or not."""
    path, mode = Path(path), stat.S_IFREG
    number = _open_number(path)
    try:
        with suppress(FileNotFoundError):
            mode = path.stat().st_mode
        if number is None and stat.S_ISREG(mode):
            with write_atomically(path.resolve() if path.is_symlink() else path, binary) as file:
                yield file
            return
        if number == 1 and sys.stdout is not None:
            sys.stdout.flush()
        to = path if number is None else os.dup(number)
        with open(to, "wb") if binary else open(to, "w", encoding="utf-8") as file:
            yield file
    except OSError as error:
        if isinstance(error, WriteError) or error.filename not in (None, str(path)):
            raise
        raise WriteError(path, error) from None


def is_stream(path: Path) -> bool:
    """Return whether an output is written in place, not replaced."""
    there = path.exists() and not (path.is_dir() or path.is_file())
    return there or _open_number(path) is not None


def _open_number(path: Path) -> int | None:
    """Return the number of the open file that "-", /dev/stdout or a link to it names, or None."""
    for _ in range(40):  # links may lead in a circle
        if str(path) == DASH:
            return 1
        if path.parent.as_posix() in ("/dev/fd", "/proc/self/fd") and path.name.isdecimal():
            return int(path.name)
        if not path.is_symlink():
            break
        path = path.parent / path.readlink()
    return None
