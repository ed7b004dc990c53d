"""The files inside a folder or an archive, listed and checked before anything is written.

An archive may be hostile. Names that lead out of the target, links, devices, and more or larger
files than a data set has are refused when the files are listed.
"""

from __future__ import annotations

import lzma
import os
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO

from letorbench.errors import DataError

#: more files and bytes than any data set of this kind has
MOST_FILES = 10_000
MOST_BYTES = 64 << 30
#: text of numbers is compressed to a fifth or a tenth of its size, an archive bomb to a
#: thousandth
MOST_SHRINKING = 200
#: an archive that unpacks to so few bytes is accepted whatever its compression
HARMLESS = 64 << 20

ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")
_DAMAGED = (
    zipfile.BadZipFile,
    tarfile.TarError,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    NotImplementedError,
)


@dataclass(frozen=True)
class Member:
    """A regular file inside: its path, and the size that the archive states."""

    path: PurePosixPath
    size: int


@dataclass(frozen=True)
class Source:
    """A folder or an archive opened for reading; `stem` is its name without the ending."""

    path: Path
    stem: str
    members: tuple[Member, ...]
    open: Callable[[Member], IO[bytes]]


@contextmanager
def opened(path: Path) -> Iterator[Source]:
    """Open a folder, .zip or .tar(.gz, .bz2, .xz); raise DataError if it is unsafe or damaged."""
    path = Path(path)
    try:
        if path.is_dir():
            yield _folder(path)
        elif not path.is_file():
            raise DataError(f"{path}: no such file or folder")
        elif path.suffix.lower() in (".rar", ".7z"):
            raise DataError(
                f"{path}: {path.suffix} archives are not read; unpack it first "
                f"(`unrar x {path.name}`), then import the folder"
            )
        elif zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                yield _zip(path, archive)
        else:
            with tarfile.open(path) as archive:
                yield _tar(path, archive)
    except tarfile.ReadError:
        raise DataError(f"{path}: damaged, or no archive; expected {', '.join(ENDINGS)}") from None
    except _DAMAGED as error:
        raise DataError(f"{path}: damaged archive: {error}") from None
    except OSError as error:
        reason = error.strerror or f"damaged archive: {error}"
        raise DataError(f"{error.filename or path}: {reason}") from None


def copy(source: Source, member: Member, target: Path) -> None:
    """Write a member's bytes to a new file; raise DataError if the stated size is wrong."""
    target.parent.mkdir(parents=True, exist_ok=True)
    left = member.size
    with source.open(member) as file, target.open("xb") as out:
        while block := file.read(min(1 << 20, left + 1)):
            left -= len(block)
            if left < 0:
                break
            out.write(block)
    if left:
        raise DataError(
            f"{source.path}: {member.path}: found {'more' if left < 0 else 'fewer'} bytes than "
            f"expected, the {member.size:,} that the archive states"
        )


def safe_path(raw: str, where: Path) -> PurePosixPath:
    """Return a member's name as a relative path; raise DataError if it could lead elsewhere."""
    path = PurePosixPath(raw)
    bad = path.is_absolute() or ".." in path.parts or PureWindowsPath(raw).drive
    if not path.parts or bad or "\\" in raw or not raw.isprintable():
        raise DataError(f"{where}: unsafe name {raw!r} inside; expected a path within the archive")
    return path


def _folder(root: Path) -> Source:
    members = []
    for folder, _, names in os.walk(root):
        for name in sorted(names):
            path = Path(folder, name)
            # a link or a device is never followed; its file is then missing
            if stat.S_ISREG(path.lstat().st_mode):
                relative = PurePosixPath(path.relative_to(root).as_posix())
                members.append(Member(relative, path.lstat().st_size))
    return Source(
        root, root.resolve().name, tuple(members), lambda member: (root / member.path).open("rb")
    )


def _zip(path: Path, archive: zipfile.ZipFile) -> Source:
    infos = {}
    for info in archive.infolist():
        name = safe_path(info.filename, path)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise _not_a_file(path, name)
        if info.flag_bits & 1:
            raise DataError(f"{path}: {name} is encrypted; unpack it first")
        if not info.is_dir():
            infos[_once(name, infos, path)] = info
    members = _bounded(path, (Member(name, info.file_size) for name, info in infos.items()))
    return Source(path, _stem(path), members, lambda member: archive.open(infos[member.path]))


def _tar(path: Path, archive: tarfile.TarFile) -> Source:
    infos = {}

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
    archive.fileobj.seek(archive.offset)
    if archive.fileobj.read(tarfile.BLOCKSIZE) != bytes(tarfile.BLOCKSIZE):
        raise DataError(f"{path}: damaged archive: cut off after {len(listed)} files")
    return Source(path, _stem(path), listed, lambda member: archive.extractfile(infos[member.path]))


def _bounded(path: Path, members: Iterable[Member]) -> tuple[Member, ...]:
    most = min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))
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
