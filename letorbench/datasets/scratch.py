"""Folders that are whole or not there: they are filled under another name, then renamed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from letorbench.errors import WriteError
from letorbench.files import unfinished_folder

#: what the names of unfinished folders begin with
UNFINISHED = ".unfinished-"


@contextmanager
def scratch_folder(data_dir: Path) -> Iterator[Path]:
    """Open a new hidden folder in the data folder; it is removed at the end in any case.

    What a killed process left of such folders is removed first.

    Raises
    ------
    WriteError
        The folder, or a file in it, cannot be written.
    """
    with ExitStack() as stack:
        try:
            data_dir.mkdir(parents=True, exist_ok=True)
            folder = stack.enter_context(unfinished_folder(data_dir, UNFINISHED))
        except OSError as error:
            raise WriteError(data_dir, error) from None
        yield folder


@contextmanager
def new_folder(target: Path) -> Iterator[Path]:
    """Open a folder that takes the name `target` if the block ends without an error."""
    with scratch_folder(target.parent) as scratch:
        folder = scratch / target.name
        folder.mkdir()
        yield folder
        folder.rename(target)
