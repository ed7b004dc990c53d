"""Where the data sets are had, with the sizes and hashes that public loaders check."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Source:
    """An address a data set is had from; `file` is empty where it is a page for people."""

    dataset: str
    file: str
    url: str
    bytes: int | None
    algorithm: str
    digest: str | None


def sources(dataset: str) -> tuple[Source, ...]:
    """The addresses of a data set of the catalog, the best first."""
    return tuple(row for row in _rows() if row.dataset == dataset and row.url)


def file_hashes(dataset: str) -> dict[str, Source]:
    """Published hashes of the files inside: path in the data set's folder -> its row."""
    return {row.file: row for row in _rows() if row.dataset == dataset and not row.url}


def _rows() -> list[Source]:
    path = resources.files("letorbench.datasets") / "downloads.csv"
    with path.open("r", encoding="utf-8", newline="") as file:
        return [
            Source(
                row["dataset"],
                row["file"],
                row["url"],
                int(row["bytes"]) if row["bytes"] else None,
                row["hash_type"],
                row["hash"] or None,
            )
            for row in csv.DictReader(file)
        ]
