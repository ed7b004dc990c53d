"""Files that are whole or not there, and folders with one writer at a time.

A file or a folder is written beside its place under another name, then renamed. Its writer holds
a lock meanwhile. The system gives up the lock of a process that is dead, so that the next writer
gets it and replaces what was left.
"""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from letorbench.errors import WriteError

#: the seconds between two looks whether a lock is free
POLL = 0.01


@contextmanager
def write_atomically(path: Path, binary: bool = False) -> Iterator[IO]:
    """Open a new file that takes its name only when the block ends without an error.

    Raises
    ------
    WriteError
        The file cannot be written: the disk is full, the folder is read-only, ...
    """
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.part")
    mode, encoding = ("wb", None) if binary else ("w", "utf-8")
    with _locked(path, path.with_name(f".{path.name}.lock")):
        try:
            with open(unfinished, mode, encoding=encoding) as file:
                yield file
            unfinished.replace(path)
        except OSError as error:
            # a block that reads other files has errors that name them
            if error.filename in (None, str(unfinished)):
                raise WriteError(path, error) from None
            raise
        finally:
            with suppress(OSError):
                unfinished.unlink(missing_ok=True)


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process or thread is in such a block with the folder, then hold it."""
    with _locked(folder, Path(folder) / ".lock"):
        yield


@contextmanager
def unfinished_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for the block and remove it at the end; wait while another process has it.

    Raises
    ------
    WriteError
        The folder, or its parent, cannot be made.
    """
    with _locked(folder, folder.with_name(f"{folder.name}.lock")):
        try:
            shutil.rmtree(folder, ignore_errors=True)  # what a killed process left
            folder.mkdir()
        except OSError as error:
            raise WriteError(folder, error) from None
        try:
            yield folder
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(path: Path, lock: Path) -> Iterator[None]:
    """Hold the lock file of a path, whose folder is made first; WriteError where that fails."""
    # its import takes longer than most commands need in all
    from filelock import FileLock

    held = FileLock(lock)
    try:  # an interruption may come as soon as the lock is taken
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            held.acquire(poll_interval=POLL)
        except OSError as error:
            raise WriteError(path, error) from None
        yield
    finally:
        if held.is_locked:
            # who waits for a file that is gone begins anew; Windows removes it with the lock
            with suppress(OSError):
                lock.unlink(missing_ok=True)
            held.release()
