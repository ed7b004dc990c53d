"""Unpack an archive into a folder, unless it is damaged, unsafe or larger than data can be."""

from __future__ import annotations

import lzma
import struct
import tarfile
import zipfile
import zlib
from pathlib import Path, PurePosixPath, PureWindowsPath

from letorbench.errors import DataError, LetorError, WriteError

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
    ValueError, OverflowError, IndexError, RuntimeError,
)  # fmt: skip


def unpack(path: Path, folder: Path) -> None:
    """Unpack a .zip or .tar(.gz, .bz2, .xz) into an empty folder.

    Raises
    ------
    DataError
        It is damaged; holds a link, a device or a name that leads elsewhere; or holds more files
        or bytes than an archive of its size can.
    WriteError
        A file cannot be written.
    """
    ending = foreign_ending(path)
    try:
        limit = _Limit(path)
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    limit.check(info.filename, info.file_size, not info.is_dir())
                archive.extractall(folder)
        elif ending is not None:
            raise DataError(
                f"{path}: {ending} files are not unpacked; unpack it first "
                f"(`{OTHER_ENDINGS[ending]} {path.name}`), then import the folder"
            )
        else:
            with tarfile.open(path) as archive:
                archive.extractall(folder, filter=limit.checked)
                # the check sum of a compressed file stands behind all that is inside
                while archive.fileobj is not None and archive.fileobj.read(1 << 20):
                    pass
    except LetorError:
        raise
    except tarfile.ReadError:
        raise DataError(
            f"{path}: damaged, or no archive; expected {', '.join(ENDINGS)} (`letorbench datasets "
            "split` takes one file of text or a table)"
        ) from None
    except _DAMAGED as error:
        raise DataError(
            f"{path}: damaged, or cannot be unpacked here: {error or 'cut off'}"
        ) from None
    except OSError as error:
        if error.errno is None:  # what gzip and bz2 say of damage
            raise DataError(f"{path}: damaged, or cannot be unpacked here: {error}") from None
        raise WriteError(folder, error) from None


class _Limit:
    """Counts what is unpacked, and refuses what a data set does not have."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._most = min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))
        self._names: set[PurePosixPath] = set()
        self._bytes = 0

    def check(self, raw: str, size: int, is_file: bool) -> None:
        """Raise DataError unless a member may be unpacked beside those before it."""
        name = PurePosixPath(raw)
        leads_elsewhere = name.is_absolute() or ".." in name.parts or PureWindowsPath(raw).drive
        if leads_elsewhere or "\\" in raw or not raw.isprintable():
            raise DataError(
                f"{self._path}: unsafe name {raw!r} inside; expected a path within the archive"
            )
        if is_file and name in self._names:
            raise DataError(f"{self._path}: {name} is inside twice; expected each file once")
        self._names.add(name)
        self._bytes += size
        if len(self._names) > MOST_FILES or self._bytes > self._most:
            raise DataError(
                f"{self._path}: {len(self._names):,} files or more with {self._bytes:,} bytes; "
                f"expected at most {MOST_FILES:,} files and {self._most:,} bytes from an archive "
                "of this size"
            )

    def checked(self, member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
        """Return a member of a .tar as it may be unpacked; the filter of `extractall`."""
        if not (member.isreg() or member.isdir()) or member.issparse():
            raise DataError(
                f"{self._path}: {member.name} is a link or a device; expected files and folders"
            )
        self.check(member.name, member.size, member.isreg())
        return tarfile.data_filter(member, folder)


def foreign_ending(path: Path) -> str | None:
    """Return a file's ending in `OTHER_ENDINGS`; None where it is not to be unpacked by hand."""
    lower = path.name.lower()
    if lower.endswith(ENDINGS):
        return None
    return next((ending for ending in OTHER_ENDINGS if lower.endswith(ending)), None)
