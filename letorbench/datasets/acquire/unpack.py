"""Unpack an archive into a folder, unless it is damaged, unsafe or larger than data can be."""

import shutil
import tarfile
import zipfile
from os import SEEK_END
from pathlib import Path, PurePosixPath
from typing import IO

from letorbench.errors import DataError, LetorError, WriteError

#: more files and bytes than any data set of this kind has
MOST_FILES = 10_000
MOST_BYTES = 64 << 30
#: text of numbers is compressed to a fifth or a tenth of its size, an archive bomb to a thousandth
MOST_SHRINKING = 200
#: an archive that unpacks to so few bytes is accepted whatever its compression
HARMLESS = 64 << 20

ENDINGS = (".tar.gz", ".tar.bz2", ".tar.xz", ".tgz", ".tbz2", ".txz", ".tar", ".zip")


def unpack(path: Path, folder: Path) -> None:
    """Unpack a .zip or .tar(.gz, .bz2, .xz) into an empty folder.

    DataError where it is damaged, holds a device or a name that leads elsewhere, or holds more
    files or bytes than an archive of its size can.
    """
    most = min(MOST_BYTES, max(HARMLESS, MOST_SHRINKING * path.stat().st_size))
    sizes: list[int] = []

    def check(name: str, size: int) -> None:
        if name.startswith("/") or ".." in PurePosixPath(name).parts:
            raise DataError(f"{path}: unsafe name {name!r} inside; expected a path within it")
        sizes.append(size)
        if len(sizes) > MOST_FILES or sum(sizes) > most:
            raise DataError(
                f"{path}: {len(sizes):,} files or more with {sum(sizes):,} bytes; expected at most "
                f"{MOST_FILES:,} files and {most:,} bytes from an archive of this size"
            )

    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    check(info.filename, info.file_size)
                archive.extractall(folder)
        else:
            with tarfile.open(path) as tar:
                for member in tar:  # the safe filter of `extractall` is not in Python 3.11.2
                    content, place = _content(tar, member), folder / member.name
                    check(member.name, 0 if content is None else content.seek(0, SEEK_END))
                    (place if content is None else place.parent).mkdir(parents=True, exist_ok=True)
                    if content is not None:
                        content.seek(0)
                        with place.open("wb") as file:
                            shutil.copyfileobj(content, file)
                # the check sum of a compressed file stands behind all that is inside
                while tar.fileobj is not None and tar.fileobj.read(1 << 20):
                    pass
    except LetorError:
        raise
    except Exception as error:  # the standard library raises a dozen kinds for damaged archives
        # what gzip says of damage has no number
        if isinstance(error, OSError) and error.errno is not None:
            raise WriteError(folder, error) from None
        reason = str(error).split(":\n")[0] or "cut off"
        raise DataError(
            f"{path}: damaged, or no archive of {', '.join(ENDINGS)}: {reason}; unpack "
            f"others first (`unrar x {path.name}`), then import the folder; `letorbench datasets "
            "split` takes one file of text or a table"
        ) from None


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes] | None:
    """Return what a member holds, None of a folder; of a link, what the member it names holds."""
    if member.isdir():
        return None
    try:
        content = tar.extractfile(member)
    except KeyError as error:
        raise tarfile.ReadError(f"{member.name}: {error.args[0]}") from None
    if content is None:
        raise tarfile.ReadError(f"{member.name} is neither a file nor a folder")
    return content
