"""What there is of a data set: its files on disk, and what its addresses answer now."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from letorbench.datasets import layout
from letorbench.datasets.acquire.fetch import unfinished
from letorbench.datasets.acquire.members import foreign_ending
from letorbench.datasets.acquire.web import Answer, asked
from letorbench.datasets.catalog import Name, Source, parse
from letorbench.errors import DataError

#: the seconds that an address has for its answer
LONGEST = 20.0
AT_ONCE = 8


@dataclass(frozen=True)
class Finding:
    """What was found in a place.

    Parameters
    ----------
    name : str
        The data set.
    place : str
        A folder, a file or an address.
    status : str
        One line.
    ok : bool or None
        Whether that is as it should be; None where nothing is there that could be wrong.
    """

    name: str
    place: str
    status: str
    ok: bool | None


def examine(names: Sequence[str | Name], data_dir: Path) -> tuple[Finding, ...]:
    """Look at the files of data sets, and ask each of their addresses for one byte."""
    named = [parse(name) for name in names]
    web = [(each.label, source) for each in named for source in _sources(each)]
    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(lambda pair: _address(*pair), web))
    found: list[Finding] = []
    for each in named:
        found.append(_on_disk(each, data_dir))
        found += _waiting(each, data_dir)
        found += [finding for finding in answers if finding.name == each.label]
    return tuple(found)


def _sources(named: Name) -> tuple[Source, ...]:
    sources = named.entry.sources if named.entry else ()
    return tuple(each for source in sources for each in source.addresses)


def _on_disk(named: Name, data_dir: Path) -> Finding:
    try:
        there = layout.find(named, data_dir)
    except DataError as error:
        folders = layout.places(named)
        if not any(layout.resolve(data_dir, place) for place in folders):
            return Finding(named.label, str(data_dir / folders[0]), "not there", None)
        return Finding(named.label, str(data_dir), str(error), False)
    empty = [path for path in there.files if path.stat().st_size == 0]
    if empty:
        return Finding(named.label, str(empty[0]), "found an empty file", False)
    status = f"complete: {len(there.files)} files in {len(there.folds)} folds"
    return Finding(named.label, str(there.folder), status, True)


def _waiting(named: Name, data_dir: Path) -> list[Finding]:
    """Say which downloads are not finished, or wait for being unpacked by hand."""
    found = []
    kept = unfinished(data_dir).get(named.label)
    if kept:
        status = f"unfinished: `letorbench datasets fetch {named.label}` continues it"
        found.append(Finding(named.label, f"{kept:,} bytes downloaded", status, None))
    for source in _sources(named):
        path = data_dir / source.file
        if source.file and foreign_ending(path) and path.is_file():
            found.append(Finding(named.label, str(path), "downloaded, to be unpacked", None))
            break
    return found


def _address(label: str, source: Source) -> Finding:
    try:
        with asked(source.url, {"Range": "bytes=0-0"}, LONGEST, LONGEST) as answer:
            status, ok = _judged(source, answer)
    except DataError as error:
        status, ok = str(error).removeprefix(f"{source.url}: "), False
    return Finding(label, source.url, status, ok)


def _judged(source: Source, answer: Answer) -> tuple[str, bool | None]:
    if not source.file:
        return "a page for people: open it in a browser", None
    if answer.is_page:
        return "found a web page, expected an archive", False
    span = answer.span
    size = span[1] if answer.status == 206 and span else answer.length
    if size is None:
        return "answers, size not said", True
    if source.bytes is not None and size != source.bytes:
        return f"found {size:,} bytes, expected {source.bytes:,}", False
    return f"answers, {size:,} bytes" + (" as published" if source.bytes else ""), True
