"""The files inside a folder or an archive, listed and checked before anything is written.

An archive may be damaged or hostile. Names that lead out of the target, links, devices, and more
or larger files than a data set has are refused when the files are listed. The check sums of a
compressed .tar are compared then, too; those of a .zip when its files are read. A plain .tar has
none.
"""

from __future__ import annotations

import lzma
import stat
import struct
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import IO, Any

from letorbench.errors import DataError, LetorError

#: more files and bytes than any data set of this kind has
MOST_FILES = 10_000
MOST_BYTES = 64 << 30
#: text of numbers is compressed to a fifth or a tenth of its size, an archive bomb to a thousandth
MOST_SHRINKING = 200
#: an archive that unpacks to so few bytes is accepted whatever its compression
HARMLESS = 64 << 20

ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")
#: what is not unpacked, and how to unpack it
OTHER_ENDINGS = {
    ".rar": "unrar x", ".7z": "7z x", ".gz": "gunzip -k", ".bz2": "bunzip2 -k", ".xz": "unxz -k",
    ".zst": "unzstd", ".lzma": "unlzma -k",
}  # fmt: skip
#: what the standard library raises for damaged archives, and for ones that it cannot read
_DAMAGED = (
    zipfile.BadZipFile, tarfile.TarError, struct.error, zlib.error, lzma.LZMAError, EOFError,
    ValueError, OverflowError, IndexError, RuntimeError, OSError,
)  # fmt: skip
_READ_AT_A_TIME = 1 << 20


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
            elif ending := foreign_ending(path):
                raise DataError(
                    f"{path}: {ending} files are not unpacked; unpack it first "
                    f"(`{OTHER_ENDINGS[ending]} {path.name}`), then import the folder"
                )
            else:
                source = _tar(path, stack.enter_context(tarfile.open(path)))
        yield source


def blocks(source: Source, member: Member) -> Iterator[bytes]:
    """Yield a member's bytes; DataError if it cannot be read or has not its check sum or size."""
    left = member.size
    with _damage_told(source.path), source.open(member) as file:
        while block := file.read(_READ_AT_A_TIME):
            left -= len(block)
            yield block
    if left:
        raise DataError(
            f"{source.path}: {member.path}: found {member.size - left:,} bytes, expected "
            f"{member.size:,}"
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
    except _DAMAGED as error:
        reason = getattr(error, "strerror", None) or error or "cut off"
        raise DataError(f"{path}: damaged, or cannot be unpacked here: {reason}") from None


def _folder(root: Path) -> Source:
    # a link or a device is never followed; its file is then missing
    files = [path for path in sorted(root.rglob("*")) if not path.is_dir() or path.is_symlink()]
    regular = [path for path in files if stat.S_ISREG(path.lstat().st_mode)]
    members = tuple(
        Member(PurePosixPath(path.relative_to(root).as_posix()), path.stat().st_size)
        for path in regular
    )
    links = len(files) - len(regular)
    return Source(root, root.resolve().name, members, lambda m: (root / m.path).open("rb"), links)


def _zip(path: Path, archive: zipfile.ZipFile) -> Source:
    files = (
        (info, info.filename, info.file_size, stat.S_IFMT(info.external_attr >> 16))
        for info in archive.infolist()
        if not info.is_dir()
    )
    return _checked(path, files, archive.open)


def _tar(path: Path, archive: tarfile.TarFile) -> Source:
    files = (
        (info, info.name, info.size, 0 if info.isreg() and not info.issparse() else stat.S_IFLNK)
        for info in archive
        if not info.isdir()
    )
    source = _checked(path, files, archive.extractfile)
    # the check sum of a compressed file stands behind all that is inside
    archive.fileobj.seek(archive.offset)
    while archive.fileobj.read(_READ_AT_A_TIME):
        pass
    return source


def _checked(
    path: Path, files: Iterable[tuple[Any, str, int, int]], open_: Callable[[Any], Any]
) -> Source:
    """Return what is in an archive of entries with their names, sizes and kinds.

    The sizes are checked while they are listed, so that a bomb is not read to its end.
    """
    most = min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))
    entries: dict[Member, Any] = {}
    names, total = set(), 0
    for entry, raw, size, kind in files:
        name = safe_path(raw, path)
        if kind not in (0, stat.S_IFREG):
            raise DataError(f"{path}: {name} is a link or a device; expected files and folders")
        if name in names:
            raise DataError(f"{path}: {name} is inside twice; expected each file once")
        names.add(name)
        entries[Member(name, size)] = entry
        total += size
        if len(names) > MOST_FILES or total > most:
            raise DataError(
                f"{path}: {len(names):,} files or more with {total:,} bytes; expected at most "
                f"{MOST_FILES:,} files and {most:,} bytes from an archive of this size"
            )
    ending = next((each for each in ENDINGS if path.name.lower().endswith(each)), path.suffix)
    stem = path.name[: len(path.name) - len(ending)]
    return Source(path, stem, tuple(entries), lambda member: open_(entries[member]))
