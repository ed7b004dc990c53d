"""The names that git gives to files of the official releases, as public repositories hold them.

A name is the SHA-1 of the content behind a head, so it says as much as a published hash does.
"""

from __future__ import annotations

import csv
import hashlib
from collections.abc import Mapping
from functools import cache
from pathlib import Path

#: columns: the data set, the file in it, its line ends (empty where only one form is known), the
#: name; files of other line ends have other names
_TABLE = Path(__file__).with_name("git_blobs.csv")
#: the forms of a text file
LINE_ENDS = ("CRLF", "LF")


def git_blob(path: Path) -> str:
    """Return the name that git gives to the content of a file."""
    state = hashlib.sha1(b"blob %d\0" % path.stat().st_size, usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            state.update(block)
    return state.hexdigest()


def known_blobs(dataset: str, file: str) -> Mapping[str, str]:
    """Return the names that a file of a data set may have, each with its line ends.

    Parameters
    ----------
    dataset : str
        The data set's name in the catalog.
    file : str
        The file's path in the data set's folder, in any case.
    """
    return _blobs().get((dataset, file.lower()), {})


@cache
def _blobs() -> Mapping[tuple[str, str], Mapping[str, str]]:
    found: dict[tuple[str, str], dict[str, str]] = {}
    with _TABLE.open(encoding="utf-8", newline="") as table:
        for row in csv.DictReader(table):
            found.setdefault((row["dataset"], row["file"].lower()), {})[row["sha1"]] = row[
                "line_ends"
            ]
    return found
