"""Compare a data set on disk with what is published about it: hashes, sizes, labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from letorbench.datasets import layout
from letorbench.datasets.catalog import FileHash, Name, parse
from letorbench.datasets.catalog.git_blobs import LINE_ENDS, git_blob, known_blobs
from letorbench.datasets.layout import Layout
from letorbench.datasets.load import load
from letorbench.datasets.queryset import Benchmark, QuerySet


@dataclass(frozen=True)
class FileCheck:
    """A file beside what is published of it: ok, differs, or unknown (nothing is published)."""

    path: str
    status: str


@dataclass(frozen=True)
class FactCheck:
    """A number of the loaded data beside the published one: ok, differs, or unknown."""

    fact: str
    published: int | None
    loaded: int

    @property
    def status(self) -> str:
        if self.published is None:
            return "unknown"
        return "ok" if self.published == self.loaded else "differs"


@dataclass(frozen=True)
class Verification:
    """What `verify` found; it is `ok` if nothing differs from what is published."""

    name: str
    files: tuple[FileCheck, ...]
    facts: tuple[FactCheck, ...]

    @property
    def ok(self) -> bool:
        found = [check.status for check in self.files] + [check.status for check in self.facts]
        return "differs" not in found


def verify(name: str | Name, data_dir: Path, null: str | float = "error") -> Verification:
    """Hash every file, load all folds, and compare them with what is published.

    Parameters
    ----------
    name : str or Name
    data_dir : Path
    null : str or float
        What a NULL value reads as; see `load`.

    Raises
    ------
    DataError
        If a file is missing or cannot be read.
    """
    named = parse(name)
    data = load(named, data_dir, null=null)
    found = layout.find(named, data_dir)
    return Verification(data.name, _files(found), _facts(found, data))


def _files(found: Layout) -> tuple[FileCheck, ...]:
    entry = found.name.entry
    published = {path.lower(): known for path, known in entry.hashes.items()} if entry else {}
    checks = []
    for path in found.files:
        relative = path.relative_to(found.folder).as_posix()
        known = published.get(relative.lower())
        blobs = known_blobs(entry.name, relative) if entry else {}
        checks.append(FileCheck(relative, _status(path, known, blobs)))
    return tuple(checks)


def _status(path: Path, published: FileHash | None, blobs: Mapping[str, str]) -> str:
    """Compare a file with its published hash, else with the copies that git repositories hold.

    Where one form of a copy is known only, one's own may be right with other line ends.
    """
    if published is not None:
        return "ok" if FileHash.of(path, published.algorithm) == published else "differs"
    if blobs and git_blob(path) in blobs:
        return "ok"
    return "differs" if set(LINE_ENDS) <= set(blobs.values()) else "unknown"


def _facts(found: Layout, data: Benchmark) -> tuple[FactCheck, ...]:
    entry = found.name.entry
    made: Any = data.provenance["recipe"]
    known = entry if made is None or made.get("scale") == 1.0 else None
    parts = data.parts
    counts = label_counts(parts)
    published = known.label_counts if known and known.label_counts else (None,) * len(counts)
    width = max(len(counts), len(published))
    return (
        FactCheck("queries", known and known.queries, sum(each.n_queries for each in parts)),
        FactCheck("documents", known and known.documents, sum(each.n_docs for each in parts)),
        FactCheck("features", known and known.n_features, parts[0].n_features),
        *(
            FactCheck(
                f"label {label}",
                published[label] if label < len(published) else 0,
                int(counts[label]) if label < len(counts) else 0,
            )
            for label in range(width)
        ),
    )


def label_counts(sets: Sequence[QuerySet]) -> np.ndarray:
    """Return the number of documents of each label 0, 1, ... over several sets."""
    largest = max(int(queries.labels.max(initial=0)) for queries in sets)
    return np.sum([np.bincount(each.labels, minlength=largest + 1) for each in sets], axis=0)
