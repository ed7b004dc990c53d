"""Folders that are whole or not there: they are filled under another name, then renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from letorbench.files import unfinished_folder


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Open a folder that takes the name `target` if the block ends without an error.

    Raises
    ------
    WriteError
        The folder, or a file in it, cannot be written.
    """
    with unfinished_folder(target.with_name(f".unfinished-{target.name}")) as folder:
        yield folder
        folder.rename(target)
