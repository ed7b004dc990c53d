"""Folders that are whole or not there: they are filled under another name, then renamed."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from letorbench.errors import DataError


@contextmanager
def scratch_folder(data_dir: Path) -> Iterator[Path]:
    """Open a new hidden folder in the data folder; it is removed at the end in any case."""
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
    """Open a folder that takes the name `target` if the block ends without an error."""
    with scratch_folder(target.parent) as scratch:
        folder = scratch / target.name
        folder.mkdir()
        yield folder
        folder.rename(target)
