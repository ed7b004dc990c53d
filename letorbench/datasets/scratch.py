"""Folders that are whole or not there: filled under another name, then renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from letorbench.errors import DataError


@contextmanager
def scratch_folder(data_dir: Path) -> Iterator[Path]:
    """A new hidden folder in the data folder, removed at the end whatever happens."""
    try:
        data_dir.mkdir(parents=True, exist_ok=True)
        folder = Path(tempfile.mkdtemp(prefix=".unfinished-", dir=data_dir))
    except OSError as error:
        raise DataError(f"{data_dir}: cannot write there: {error.strerror}") from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """A folder to fill that takes the name `target` when the block ends without an error."""
    with scratch_folder(target.parent) as scratch:
        folder = scratch / target.name
        folder.mkdir()
        yield folder
        folder.rename(target)
