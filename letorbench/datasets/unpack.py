"""Unpack an archive into a folder, unless it is damaged, unsafe or larger than data can be."""

import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from os import SEEK_END
from pathlib import Path, PurePosixPath
from typing import IO

from letorbench.datasets.text import check_content
from letorbench.errors import DataError, LetorError, WriteError

#: more files and bytes than any data set of this kind has
MOST_FILES = 10_000
MOST_BYTES = 64 << 30
#: text of numbers is compressed to a fifth or a tenth of its size, an archive bomb to a thousandth
MOST_SHRINKING = 200
#: an archive that unpacks to so few bytes is accepted whatever its compression
HARMLESS = 64 << 20

ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")
#: a member's name, size and content; a folder has no size and no content
_Member = tuple[str, int | None, IO[bytes] | None]


def unpack(path: Path, folder: Path) -> None:
    """Unpack a .zip or .tar(.gz, .bz2, .xz) into an empty folder; DataError if it is unsafe."""
    most = min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))
    sizes: list[int] = []
    #: whether each path inside is a folder, and the first member that says so
    kinds: dict[PurePosixPath, tuple[bool, str]] = {}

    def place_of(name: str, size: int | None) -> Path:
        """Return where a member belongs, unless it may not be unpacked; a folder has no size."""
        inside = PurePosixPath(name.replace("\\", "/"))  # some zips of Windows have these
        if inside.is_absolute() or ".." in inside.parts or name[1:2] == ":":
            raise DataError(f"{path}: unsafe name {name!r} inside; expected a path within it")
        for each in (inside, *inside.parents):
            kind = size is None or each != inside
            is_folder, first = kinds.setdefault(each, (kind, name))
            if is_folder != kind:
                raise DataError(
                    f"{path}: found {first} and {name} inside, expected {each} as a file or as a "
                    "folder"
                )
        sizes.append(size or 0)
        if len(sizes) > MOST_FILES or sum(sizes) > most:
            raise DataError(
                f"{path}: {len(sizes):,} files or more with {sum(sizes):,} bytes; expected at most "
                f"{MOST_FILES:,} files and {most:,} bytes from an archive of this size"
            )
        return folder / inside

    try:
        for name, size, content in _zipped(path) if zipfile.is_zipfile(path) else _in_tar(path):
            place = place_of(name, size)
            (place if size is None else place.parent).mkdir(parents=True, exist_ok=True)
            if content is not None:
                with content, place.open("wb") as file:
                    shutil.copyfileobj(content, file)
    except LetorError:
        raise
    except Exception as error:  # the standard library raises a dozen kinds for damaged archives
        # what gzip says of damage has no number
        if isinstance(error, OSError) and error.errno is not None:
            raise WriteError(folder, error) from None
        with path.open("rb") as archive:
            start = archive.read(1 << 16)
        if not start.startswith(b"PK"):
            check_content(path, start)
        reason = str(error).split(":\n")[0] or "cut off"
        raise DataError(
            f"{path}: damaged, or no archive of {', '.join(ENDINGS)}: {reason}; unpack "
            f"others first (`unrar x {path.name}`), then import the folder; `letorbench datasets "
            "split` takes one file of text or a table"
        ) from None


def _zipped(path: Path) -> Iterator[_Member]:
    with zipfile.ZipFile(path) as archive:
        for info in archive.infolist():
            if info.filename.endswith(("/", "\\")):
                yield info.filename, None, None
            elif stat.S_ISLNK(info.external_attr >> 16):
                raise zipfile.BadZipFile(f"{info.filename} is a link, not a file")
            else:
                yield info.filename, info.file_size, archive.open(info)


def _in_tar(path: Path) -> Iterator[_Member]:
    with tarfile.open(path) as tar:
        for member in tar:  # the safe filter of `extractall` is not in Python 3.11.2
            content = _content(tar, member)
            size = None if content is None else content.seek(0, SEEK_END)
            if content is not None:
                content.seek(0)
            yield member.name, size, content
        # the check sum of a compressed file is at its end
        while tar.fileobj is not None and tar.fileobj.read(1 << 20):
            pass


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    """Return the content of a member, or of the member that it links to; None for a folder."""
    if member.isdir():
        return None
    try:
        content = tar.extractfile(member)
    except KeyError as error:
        raise tarfile.ReadError(f"{member.name}: {error.args[0]}") from None
    if content is None:
        raise tarfile.ReadError(f"{member.name} is neither a file nor a folder")
    return content
