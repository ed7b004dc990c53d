"""Download a file: continued where it stopped, and checked before anyone uses it.

A download is written to a file whose name ends in `.part`. A second one beside it holds what the
server said of the content, so that a later run continues it only while that is the same.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, TypeVar

from letorbench.datasets.acquire.web import (
    Answer,
    Interrupted,
    Patience,
    Refused,
    asked,
    printable,
)
from letorbench.datasets.catalog import FileHash, Source
from letorbench.errors import DataError, WriteError
from letorbench.files import write_atomically

#: the most bytes of a file whose size is not published; the largest archive has 4 GB
MOST_BYTES = 16 << 30
#: how the archives begin that data sets are published as
_BEGINNINGS = {
    ".zip": (b"PK",),
    ".rar": (b"Rar!",),
    ".gz": (b"\x1f\x8b",),
    ".tgz": (b"\x1f\x8b",),
    ".bz2": (b"BZh",),
    ".xz": (b"\xfd7zXZ",),
    ".7z": (b"7z\xbc\xaf",),
}

Used = TypeVar("Used")


@dataclass(frozen=True)
class Content:
    """What a server says of a file's content; empty or None where it says nothing."""

    etag: str = ""
    modified: str = ""
    size: int | None = None

    def same(self, other: Content) -> bool:
        """Whether both say something, and nothing that they say differs."""
        pairs = list(zip(asdict(self).values(), asdict(other).values()))
        known = [(one, two) for one, two in pairs if one and two]
        return bool(known) and all(one == two for one, two in known)


class _Changed(DataError):
    """The server continues with another content than it began with."""


def download(source: Source, folder: Path, patience: Patience, use: Callable[[Path], Used]) -> Used:
    """Download a file into a folder that holds the unfinished one, if any, and use it.

    A file of several pieces that cannot be used is downloaded once more, as one: its pieces may
    be of two versions.

    Parameters
    ----------
    source : Source
    folder : Path
    patience : Patience
    use : callable
        Takes the path of the whole file. It raises DataError where it cannot use it.

    Raises
    ------
    DataError
        The address has not the file, or one of another size, hash or kind, or of no use.
    Interrupted
        The download stopped and can be continued.
    WriteError
        A file cannot be written.
    """
    part = _Part(source, folder)
    part.take_back()
    while True:
        _fetch(part, patience)
        try:
            _check(source, part.path)
            return use(part.finished())
        except WriteError:
            raise
        except DataError:
            part.remove()
            if not part.pieces or part.again:
                raise
            part.pieces, part.again = False, True


class _Part:
    """A file that is being downloaded, and what is known of its content."""

    def __init__(self, source: Source, folder: Path) -> None:
        self.source = source
        key = hashlib.blake2b(source.url.encode(), digest_size=4).hexdigest()
        self.path = folder / f"{key}-{source.file}.part"
        self._facts = self.path.with_suffix(".json")
        self._whole = folder / source.file
        #: whether what a server sent earlier was continued, and whether that was given up
        self.pieces, self.again = False, False

    @property
    def size(self) -> int:
        return self.path.stat().st_size if self.path.is_file() else 0

    @property
    def content(self) -> Content:
        try:
            facts = json.loads(self._facts.read_bytes())
            known = Content(str(facts["etag"]), str(facts["modified"]), facts["size"])
        except (OSError, ValueError, KeyError, TypeError):
            return Content()
        return known if known.size is None or isinstance(known.size, int) else Content()

    def begin(self, content: Content) -> None:
        """Empty the file, and note what it will hold."""
        try:
            self.path.write_bytes(b"")
        except OSError as error:
            raise WriteError(self.path, error) from None
        with write_atomically(self._facts) as file:
            json.dump(asdict(content), file)

    def take_back(self) -> None:
        """Take the whole file that an earlier run was using when it was ended."""
        if self._whole.is_file() and self._whole.stat().st_size == self.content.size:
            os.replace(self._whole, self.path)

    def finished(self) -> Path:
        os.replace(self.path, self._whole)
        return self._whole

    def remove(self) -> None:
        for path in (self.path, self._facts):
            path.unlink(missing_ok=True)


def _fetch(part: _Part, patience: Patience) -> None:
    """Get the rest of the file, in several attempts while each brings something."""
    end = time.monotonic() + patience.total
    for attempt in range(patience.attempts):
        before = part.size
        try:
            return _attempt(part, patience, end)
        except Interrupted:
            last = attempt == patience.attempts - 1
            pause = patience.pause * 2**attempt
            if last or part.size <= before or time.monotonic() + pause >= end:
                raise
            time.sleep(pause)


def _attempt(part: _Part, patience: Patience, end: float) -> None:
    have, known = part.size, part.content
    if have and have == known.size:
        part.pieces = True
        return
    wanted: dict[str, str] = {}
    if have and known != Content():
        wanted["Range"] = f"bytes={have}-"
        if known.etag or known.modified:
            wanted["If-Range"] = known.etag or known.modified
    try:
        with asked(part.source.url, wanted, patience.stall, end - time.monotonic()) as answer:
            if _continues(answer, have, known):
                part.pieces = True
            else:
                have, known = 0, Content(answer.etag, answer.modified, answer.length)
                _require_archive(part.source, answer)
                part.begin(known)
            _append(part, answer, have, patience)
    except (Refused, _Changed) as error:
        if not wanted or getattr(error, "code", 416) != 416:
            raise
        part.remove()
        _attempt(part, patience, end)


def _continues(answer: Answer, have: int, known: Content) -> bool:
    """Whether the answer is the rest of what there is; else it is the whole."""
    if answer.status != 206:
        return False
    start, size = answer.span or (-1, None)
    if start != have or not known.same(Content(answer.etag, answer.modified, size)):
        raise _Changed("found another content than before")
    return True


def _require_archive(source: Source, answer: Answer) -> None:
    """Raise DataError where the headers tell that this is not the file."""
    url, size = printable(source.url), answer.length
    if answer.status != 200:
        raise DataError(f"{url}: answers HTTP {answer.status}, expected 200")
    if answer.is_page:
        raise DataError(_page(url))
    if answer.encoding:
        raise DataError(f"{url}: found it encoded as {printable(answer.encoding)}, expected not")
    if source.bytes is not None and size not in (None, source.bytes):
        raise DataError(f"{url}: found {size:,} bytes, expected {source.bytes:,}")
    if size is not None and size > MOST_BYTES:
        raise DataError(f"{url}: found {size:,} bytes, expected at most {MOST_BYTES:,}")


def _page(url: str) -> str:
    return (
        f"{url}: found a web page, expected an archive; a licence, a sign-in or a form may stand "
        "before it, so open it in a browser"
    )


def _append(part: _Part, answer: Answer, have: int, patience: Patience) -> None:
    """Write what comes behind what there is, up to the size that is expected."""
    from tqdm import tqdm

    source, url = part.source, printable(part.source.url)
    size = part.content.size if source.bytes is None else source.bytes
    most = MOST_BYTES if size is None else size
    _require_space(part.path, 0 if size is None else size - have)
    window, before = time.monotonic(), have
    with tqdm(
        total=size, initial=have, unit="B", unit_scale=True, desc=source.file, disable=None
    ) as progress:
        try:
            with part.path.open("ab") as out:
                while block := answer.read():
                    have += len(block)
                    if have > most:
                        break
                    _written(out, block, part)
                    progress.update(len(block))
                    if time.monotonic() - window > patience.stall:
                        if have - before < patience.slowest * patience.stall:
                            raise Interrupted(
                                f"{url}: sent fewer than {patience.slowest:,g} bytes a second"
                            )
                        window, before = time.monotonic(), have
        except WriteError:
            part.remove()
            raise
    if have > most:
        part.remove()
        raise DataError(f"{url}: found more bytes, expected {most:,}")
    if size is not None and have < size and answer.length is not None:
        raise Interrupted(f"{url}: ended after {have:,} bytes, expected {size:,}")


def _written(out: IO[bytes], block: bytes, part: _Part) -> None:
    try:
        out.write(block)
        out.flush()
    except OSError as error:
        raise WriteError(part.path, error) from None


def _require_space(path: Path, needed: int) -> None:
    free = shutil.disk_usage(path.parent).free
    if needed > free:
        raise DataError(
            f"{path.parent}: found {free:,} bytes free, expected {needed:,} for {path.name}"
        )


def _check(source: Source, path: Path) -> None:
    """Raise DataError unless a file has the size and the hash that are published, and its kind."""
    url, size = printable(source.url), path.stat().st_size
    if source.bytes is not None and size != source.bytes:
        raise DataError(f"{url}: found {size:,} bytes, expected {source.bytes:,}")
    with path.open("rb") as file:
        beginning = file.read(512)
    if source.hash is not None:
        found = FileHash.of(path, source.hash.algorithm)
        if found != source.hash:
            raise DataError(f"{url}: found {found}, expected {source.hash}")
    expected = _BEGINNINGS.get(Path(source.file).suffix.lower())
    if expected is None or beginning.startswith(expected):
        return
    if beginning.lstrip()[:1] == b"<":
        raise DataError(_page(url))
    raise DataError(f"{url}: found no {Path(source.file).suffix} file, expected one")
