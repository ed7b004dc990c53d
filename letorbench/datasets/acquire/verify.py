"""Whether a data set is the published one: its files on disk, its numbers, and its addresses."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from letorbench.datasets import layout
from letorbench.datasets.acquire.fetch import answer_of
from letorbench.datasets.catalog import Name, Source, parse
from letorbench.datasets.load import load
from letorbench.errors import DataError

#: the seconds that an address has for its answer
LONGEST = 20.0


@dataclass(frozen=True)
class Check:
    """A file or a number of a data set beside what is published of it.

    Its status is ok, differs, or unknown where nothing is published.
    """

    what: str
    status: str
    published: int | None = None
    loaded: int | None = None


@dataclass(frozen=True)
class Finding:
    """What was found of a data set in a place: a folder, a file or an address.

    `ok` is None where nothing is there that could be wrong.
    """

    name: str
    place: str
    status: str
    ok: bool | None


def verify(name: str | Name, data_dir: Path, null: str | float = "error") -> list[Check]:
    """Hash every file, load all folds, and compare them with what is published."""
    data = load(name, data_dir, null=null)
    there = layout.find(name, data_dir)
    known = there.name.entry
    files = [(path, path.relative_to(there.folder).as_posix()) for path in there.files]
    checks = [
        Check(file, known.status_of(path, file) if known else "unknown") for path, file in files
    ]
    recipe = data.provenance["recipe"]
    if isinstance(recipe, dict) and recipe.get("scale") != 1.0:
        known = None
    largest = max(int(part.labels.max(initial=0)) for part in data.parts)
    counts = np.sum([np.bincount(part.labels, minlength=largest + 1) for part in data.parts], 0)
    published = known.label_counts if known else None
    facts: list[tuple[str, int | None, int]] = [
        ("queries", known.queries if known else None, sum(part.n_queries for part in data.parts)),
        ("documents", known.documents if known else None, sum(part.n_docs for part in data.parts)),
        ("features", known.n_features if known else None, data.parts[0].n_features),
    ]
    for label in range(max(len(counts), len(published or ()))):
        expected = None if published is None else published[label : label + 1]
        number = None if expected is None else sum(expected)
        facts.append((f"label {label}", number, int(sum(counts[label : label + 1]))))
    for what, number, loaded in facts:
        status = "unknown" if number is None else "ok" if number == loaded else "differs"
        checks.append(Check(what, status, number, loaded))
    return checks


def examine(names: Sequence[str | Name], data_dir: Path) -> tuple[Finding, ...]:
    """Look at the files of data sets, and ask each of their addresses."""
    findings: list[Finding] = []
    for named in map(parse, names):
        findings.append(_on_disk(named, data_dir))
        sources = named.entry.sources if named.entry else ()
        for path in {data_dir / source.file for source in sources if source.file}:
            if path.is_file():
                status = "downloaded, to be unpacked"
                findings.append(Finding(named.label, str(path), status, None))
        addresses = [address for source in sources for address in source.addresses]
        with ThreadPoolExecutor() as pool:
            findings += pool.map(partial(_address, named.label), addresses)
    return tuple(findings)


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


def _address(label: str, source: Source) -> Finding:
    try:
        with answer_of(source.url, LONGEST) as answer:
            is_page = answer.headers.get_content_type() == "text/html"
            size = answer.length
    except DataError as error:
        return Finding(label, source.url, str(error).removeprefix(f"{source.url}: "), False)
    if not source.file:
        return Finding(label, source.url, "a page for people: open it in a browser", None)
    if is_page:
        return Finding(label, source.url, "found a web page, expected an archive", False)
    found = "answers without a size" if size is None else f"answers, {size:,} bytes"
    if source.bytes is None or size is None:
        return Finding(label, source.url, found, True)
    same = size == source.bytes
    status = f"{found} as published" if same else f"{found}, expected {source.bytes:,}"
    return Finding(label, source.url, status, same)
