"""Download a file, continued where it stopped, and check it before anyone uses it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from letorbench.datasets.acquire.members import ENDINGS, OTHER_ENDINGS
from letorbench.datasets.acquire.web import Answer, Interrupted, Refused, asked
from letorbench.datasets.catalog import FileHash, Source
from letorbench.errors import DataError, WriteError

#: the most bytes of a file whose size is not published; the largest archive has 4 GB
MOST_BYTES = 16 << 30
#: the seconds without a byte after which an address is given up
STALL = 60.0


def download(source: Source, folder: Path, seconds: float) -> Path:
    """Download a file into a folder and return its path.

    What an earlier call got is continued where a check sum will tell whether both fit.

    Raises
    ------
    DataError
        The address has not the file, or one of another size, hash or kind.
    Interrupted
        The download stopped and can be continued.
    WriteError
        The file cannot be written.
    """
    part, whole = folder / f"{source.file}.part", folder / source.file
    if whole.is_file():  # an earlier run was ended while it imported this
        return whole
    summed = source.hash is not None or source.file.lower().endswith((*ENDINGS, *OTHER_ENDINGS))
    have = part.stat().st_size if summed and part.is_file() else 0
    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        try:
            with asked(source.url, headers, STALL, seconds) as answer:
                _receive(answer, source, part, have)
        except Refused as error:
            if not have or error.code != 416:  # it has all that there is
                raise
        _check(source, part)
        os.replace(part, whole)
    except (Interrupted, Refused):
        raise
    except DataError:
        part.unlink(missing_ok=True)
        raise
    return whole


def _receive(answer: Answer, source: Source, part: Path, have: int) -> None:
    """Write what comes behind what there is, up to the size that is expected."""
    from tqdm import tqdm

    if answer.span is None or answer.span[0] != have:
        have = 0
    size = None if answer.length is None else have + answer.length
    most = MOST_BYTES if source.bytes is None else source.bytes
    if answer.is_page:
        raise _page(source)
    if size is not None and (size > most or source.bytes not in (None, size)):
        raise DataError(f"{source.url}: found {size:,} bytes, expected {most:,}")
    left, free = 0 if size is None else size - have, shutil.disk_usage(part.parent).free
    if left > free:
        raise DataError(
            f"{part.parent}: found {free:,} bytes free, expected {left:,} for {part.name}"
        )
    with tqdm(
        total=size, initial=have, unit="B", unit_scale=True, desc=source.file, disable=None
    ) as progress:
        try:
            out = part.open("ab" if have else "wb")
        except OSError as error:
            raise WriteError(part, error) from None
        with out:
            while block := answer.read():
                have += len(block)
                if have > most:
                    raise DataError(f"{source.url}: found more bytes, expected {most:,}")
                try:
                    out.write(block)
                    out.flush()
                except OSError as error:
                    raise WriteError(part, error) from None
                progress.update(len(block))
    if size is not None and have < size:
        raise Interrupted(f"{source.url}: ended after {have:,} bytes, expected {size:,}")


def _page(source: Source) -> DataError:
    return DataError(
        f"{source.url}: found a web page, expected a file; a licence, a sign-in or a form may "
        "stand before it, so open it in a browser"
    )


def _check(source: Source, path: Path) -> None:
    """Raise DataError unless a file has the size and the hash that are published."""
    size = path.stat().st_size
    if source.bytes not in (None, size):
        raise DataError(f"{source.url}: found {size:,} bytes, expected {source.bytes:,}")
    found = source.hash and FileHash.of(path, source.hash.algorithm)
    if found != source.hash:
        raise DataError(f"{source.url}: found {found}, expected {source.hash}")
    with path.open("rb") as file:
        if file.read(512).lstrip().startswith(b"<"):
            raise _page(source)
