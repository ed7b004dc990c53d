"""Unpack an archive into a folder, unless it is damaged, unsafe or larger than data can be."""

import tarfile
import zipfile
from pathlib import Path, PurePosixPath

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

    def checked(member: tarfile.TarInfo, place: str) -> tarfile.TarInfo:
        check(member.name, member.size)
        return tarfile.data_filter(member, place)

    try:
        if zipfile.is_zipfile(path):
            with zipfile.ZipFile(path) as archive:
                for info in archive.infolist():
                    check(info.filename, info.file_size)
                archive.extractall(folder)
        else:
            with tarfile.open(path) as tar:
                tar.extractall(folder, filter=checked)
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
