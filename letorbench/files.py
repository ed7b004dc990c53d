"""Files that are whole or not there, and folders with one writer at a time.

A file is written beside its place, then renamed. Its writer holds a lock on it meanwhile. The
system gives up a lock as soon as the process that holds it is dead, so what a killed process
left is known by its free lock. Who writes next to it removes it.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO

from letorbench.errors import WriteError


@contextmanager
def write_atomically(path: Path, binary: bool = False) -> Iterator[IO]:
    """Open a new file that takes its name only when the block ends without an error.

    Raises
    ------
    WriteError
        The file cannot be written: the disk is full, the folder is read-only, ...
    """
    path = Path(path)
    handle, temporary = _new_file(path)
    try:
        mode, encoding = ("wb", None) if binary else ("w", "utf-8")
        with os.fdopen(handle, mode, encoding=encoding) as file:
            yield file
            file.flush()
            os.fchmod(file.fileno(), 0o666 & ~umask())
            temporary.replace(path)
    except OSError as error:
        # a block that reads other files has errors that name them
        if error.filename in (None, str(temporary)):
            raise WriteError(path, error) from None
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def one_writer(folder: Path) -> Iterator[None]:
    """Wait until no other process or thread is in such a block with the folder, then hold it.

    A process that dies lets go of it. Where the file system has no locks, nothing is held.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder, os.O_RDONLY)
    except OSError as error:
        raise WriteError(folder, error) from None
    try:
        with suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


@contextmanager
def unfinished_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Open a new folder that is removed at the end in any case, if need be by who comes next."""
    remove_abandoned(parent, prefix)
    while True:
        folder = Path(tempfile.mkdtemp(prefix=prefix, dir=parent))
        with suppress(FileNotFoundError):
            handle = hold(folder)
            break
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(handle)


def remove_abandoned(parent: Path, prefix: str) -> None:
    """Remove the unfinished files and folders of that prefix whose writers are dead."""
    with suppress(OSError):
        for name in os.listdir(parent):
            if name.startswith(prefix):
                _remove_if_abandoned(parent / name)


def hold(path: Path) -> int:
    """Open an unfinished file or folder of one's own and lock it; return the handle.

    Raises
    ------
    FileNotFoundError
        Another process took it for abandoned before the lock was there.
    """
    handle = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    with suppress(OSError):
        fcntl.flock(handle, fcntl.LOCK_EX)
    if not os.path.exists(path):
        os.close(handle)
        raise FileNotFoundError(path)
    return handle


def _new_file(path: Path) -> tuple[int, Path]:
    """Return a new file beside the path, open and locked."""
    prefix = f".{path.name}."
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        remove_abandoned(path.parent, prefix)
        while True:
            handle, name = tempfile.mkstemp(prefix=prefix, dir=path.parent)
            os.close(handle)
            with suppress(FileNotFoundError):
                return hold(Path(name)), Path(name)
    except OSError as error:
        raise WriteError(path, error) from None


def _remove_if_abandoned(path: Path) -> None:
    with suppress(OSError):
        handle = os.open(path, os.O_RDONLY)
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if path.is_dir():
                shutil.rmtree(path, ignore_errors=True)
            else:
                path.unlink(missing_ok=True)
        finally:
            os.close(handle)


def umask() -> int:
    """Return which permissions new files lack."""
    mask = os.umask(0)
    os.umask(mask)
    return mask
