"""The files inside a folder or an archive, listed and checked before anything is written.

An archive may be damaged or hostile. Names that lead out of the target, links, devices, and more
or larger files than a data set has are refused when the files are listed. Every check sum of an
archive is compared before any of its files is accepted: those of a compressed .tar when its files
are listed, those of a .zip when its files are read. A plain .tar has none.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from letorbench.errors import DataError, LetorError

#: more files and bytes than any data set of this kind has
MOST_FILES = 10_000
MOST_BYTES = 64 << 30
#: text of numbers is compressed to a fifth or a tenth of its size, an archive bomb to a
#: thousandth
MOST_SHRINKING = 200
#: an archive that unpacks to so few bytes is accepted whatever its compression
HARMLESS = 64 << 20

ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")
#: what is not unpacked, and how to unpack it
OTHER_ENDINGS = {
    ".rar": "unrar x",
    ".7z": "7z x",
    ".gz": "gunzip -k",
    ".bz2": "bunzip2 -k",
    ".xz": "unxz -k",
    ".zst": "unzstd",
    ".lzma": "unlzma -k",
}
#: what the standard library raises for damaged archives, and for ones that it cannot read
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    EOFError,
    ValueError,
    OverflowError,
    IndexError,
)
#: how a compressed file begins, and what opens it
_COMPRESSED = ((b"\x1f\x8b", gzip.open), (b"BZh", bz2.open), (b"\xfd7zXZ\0", lzma.open))
_READ_AT_A_TIME = 1 << 20
#: the most bytes that the header of a file in a .tar may have
_LONGEST_HEADER = 4 << 20


@dataclass(frozen=True)
class Member:
    """A regular file inside: its path, and the size that the archive states."""

    path: PurePosixPath
    size: int


@dataclass(frozen=True)
class Source:
    """A folder or an archive opened for reading.

    Parameters
    ----------
    path : Path
    stem : str
        Its name without the ending.
    members : tuple of Member
    open : callable
        Opens a member.
    links : int
        How many links and devices of a folder are left out.
    """

    path: Path
    stem: str
    members: tuple[Member, ...]
    open: Callable[[Member], IO[bytes]]
    links: int = 0


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a folder, .zip or .tar(.gz, .bz2, .xz); raise DataError if it is unsafe or damaged."""
    path = Path(path)
    with ExitStack() as stack:
        with _damage_told(path):
            if path.is_dir():
                source = _folder(path)
            elif not path.is_file():
                raise DataError(f"{path}: no such file or folder")
            elif zipfile.is_zipfile(path):
                source = _zip(path, stack.enter_context(zipfile.ZipFile(path)))
            else:
                _refuse_other_kinds(path)
                unpacked = stack.enter_context(_Unpacked(path))
                source = _tar(path, stack.enter_context(tarfile.open(fileobj=unpacked, mode="r:")))
        yield source


def blocks(source: Source, member: Member) -> Iterator[bytes]:
    """Yield a member's bytes.

    Raises
    ------
    DataError
        It cannot be read, or has not the size or the check sum that the archive states.
    """
    left = member.size
    with _damage_told(source.path):
        with source.open(member) as file:
            # one byte more is asked for: the check sum is compared where the file ends
            while block := file.read(min(_READ_AT_A_TIME, left + 1)):
                left -= len(block)
                if left < 0:
                    break
                yield block
    if left:
        raise DataError(
            f"{source.path}: {member.path}: found {'more' if left < 0 else 'fewer'} bytes than "
            f"expected, the {member.size:,} that the archive states"
        )


def foreign_ending(path: Path) -> str | None:
    """Return a file's ending in `OTHER_ENDINGS`; None where it is not unpacked by hand."""
    lower = path.name.lower()
    if lower.endswith(ENDINGS):
        return None
    return next((ending for ending in OTHER_ENDINGS if lower.endswith(ending)), None)


def safe_path(raw: str, where: Path) -> PurePosixPath:
    """Return a member's name as a relative path; raise DataError if it could lead elsewhere."""
    path = PurePosixPath(raw)
    bad = path.is_absolute() or ".." in path.parts or PureWindowsPath(raw).drive
    if not path.parts or bad or "\\" in raw or not raw.isprintable():
        raise DataError(f"{where}: unsafe name {raw!r} inside; expected a path within the archive")
    return path


@contextmanager
def _damage_told(path: Path) -> Iterator[None]:
    """Turn every error of reading an archive or a folder into one line."""
    try:
        yield
    except LetorError:
        raise
    except tarfile.ReadError:
        raise DataError(
            f"{path}: damaged, or no archive; expected {', '.join(ENDINGS)} (`letorbench datasets "
            "split` takes one file of text or a table)"
        ) from None
    except (NotImplementedError, RuntimeError) as error:
        raise DataError(f"{path}: cannot be unpacked here: {error}; unpack it first") from None
    except _DAMAGED as error:
        raise DataError(f"{path}: damaged archive: {error or 'cut off'}") from None
    except OSError as error:
        reason = error.strerror or f"damaged archive: {error}"
        raise DataError(f"{error.filename or path}: {reason}") from None


def _refuse_other_kinds(path: Path) -> None:
    ending = foreign_ending(path)
    if ending is None:
        return
    raise DataError(
        f"{path}: {ending} files are not unpacked; unpack it first (`{OTHER_ENDINGS[ending]} "
        f"{path.name}`), then import the folder"
    )


def _folder(root: Path) -> Source:
    members, links = [], 0

    def refuse(error: OSError) -> None:
        raise error

    for folder, folders, names in os.walk(root, onerror=refuse):
        links += sum(Path(folder, name).is_symlink() for name in folders)
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            # a link or a device is never followed; its file is then missing
            if stat.S_ISREG(path.lstat().st_mode):
                relative = PurePosixPath(path.relative_to(root).as_posix())
                members.append(Member(relative, path.lstat().st_size))
            else:
                links += 1
    stem = root.resolve().name
    return Source(root, stem, tuple(members), lambda member: (root / member.path).open("rb"), links)


def _zip(path: Path, archive: zipfile.ZipFile) -> Source:
    infos: dict[PurePosixPath, zipfile.ZipInfo] = {}
    for info in archive.infolist():
        name = safe_path(info.filename, path)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _not_a_file(path, name)
        if info.flag_bits & 1:
            raise DataError(f"{path}: {name} is encrypted; unpack it first")
        if not info.is_dir():
            infos[_once(name, infos, path)] = info
        elif info.file_size:
            raise DataError(f"{path}: damaged archive: found bytes in the folder {name}")
    _check_count(path, archive)
    members = _bounded(path, (Member(name, info.file_size) for name, info in infos.items()))
    return Source(path, _stem(path), members, lambda member: archive.open(infos[member.path]))


def _check_count(path: Path, archive: zipfile.ZipFile) -> None:
    """Raise DataError unless the directory has as many files as its last record says.

    The directory itself has no check sum, and `zipfile` reads no more of it than a record says.
    """
    with path.open("rb") as file:
        file.seek(-22 - len(archive.comment), os.SEEK_END)
        record = file.read(22)
    if record[:4] != b"PK\5\6":
        raise DataError(f"{path}: damaged archive: found bytes after its end")
    (said,) = struct.unpack_from("<H", record, 10)
    found = len(archive.infolist())
    if said not in (found, 0xFFFF):
        raise DataError(f"{path}: damaged archive: found {found} files, expected {said}")


class _Unpacked:
    """The bytes of a .tar, from a file that may be compressed.

    `tarfile` reads the header of a file in one go, and a header may say that it is gigabytes long.
    """

    def __init__(self, path: Path) -> None:
        with path.open("rb") as file:
            beginning = file.read(6)
        known = (opens for magic, opens in _COMPRESSED if beginning.startswith(magic))
        self._file = next(known, open)(path, "rb")
        self.seek, self.tell = self._file.seek, self._file.tell

    def __enter__(self) -> _Unpacked:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def read(self, size: int) -> bytes:
        if size > _LONGEST_HEADER:
            raise tarfile.HeaderError(f"found a header of {size:,} bytes")
        return self._file.read(size)


def _tar(path: Path, archive: tarfile.TarFile) -> Source:
    infos: dict[PurePosixPath, tarfile.TarInfo] = {}

    def members() -> Iterator[Member]:
        for info in archive:
            if info.name in (".", "./"):
                continue
            name = safe_path(info.name, path)
            if info.isdir():
                continue
            if not info.isreg() or info.issparse():
                raise _not_a_file(path, name)
            infos[_once(name, infos, path)] = info
            yield Member(name, info.size)

    # the sizes are checked while they are listed, so that a bomb is not read to its end
    listed = _bounded(path, members())
    _read_to_the_end(path, archive, len(listed))
    return Source(
        path, _stem(path), listed,
        lambda member: archive.extractfile(infos[member.path]),  # type: ignore[return-value]
    )  # fmt: skip


def _read_to_the_end(path: Path, archive: tarfile.TarFile, count: int) -> None:
    """Read what follows the last file, zeros only; the check sums stand behind them."""
    archive.fileobj.seek(archive.offset)
    left = _most_bytes(path)
    block = archive.fileobj.read(tarfile.BLOCKSIZE)
    if len(block) < tarfile.BLOCKSIZE:
        raise DataError(f"{path}: damaged archive: cut off after {count} files")
    while block:
        left -= len(block)
        if block.count(0) != len(block) or left < 0:
            raise DataError(f"{path}: damaged archive: more than zeros after {count} files")
        block = archive.fileobj.read(_READ_AT_A_TIME)


def _most_bytes(path: Path) -> int:
    return min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))


def _bounded(path: Path, members: Iterable[Member]) -> tuple[Member, ...]:
    most = _most_bytes(path)
    listed, total = [], 0
    for member in members:
        listed.append(member)
        total += member.size
        if len(listed) > MOST_FILES or total > most:
            raise DataError(
                f"{path}: {len(listed):,} files or more with {total:,} bytes; expected at most "
                f"{MOST_FILES:,} files and {most:,} bytes from an archive of this size"
            )
    return tuple(listed)


def _once(name: PurePosixPath, seen: dict[PurePosixPath, object], path: Path) -> PurePosixPath:
    if name in seen:
        raise DataError(f"{path}: {name} is inside twice; expected each file once")
    return name


def _not_a_file(path: Path, name: PurePosixPath) -> DataError:
    return DataError(f"{path}: {name} is a link or a device; expected only files and folders")


def _stem(path: Path) -> str:
    lower = path.name.lower()
    ending = next((ending for ending in ENDINGS if lower.endswith(ending)), path.suffix)
    return path.name[: len(path.name) - len(ending)]
