"""Files that are whole or not there, and folders with one writer at a time.

A file or a folder is written beside its place under another name, then renamed. Its writer holds
a lock meanwhile. The system gives up the lock of a process that is dead, so that the next writer
gets it and replaces what was left.

A folder may come from a stranger. What is there already is never opened for writing, and only
regular files are read.
"""

import errno
import os
import shutil
import socket
import stat
import sys
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path
from typing import IO

from letorbench.errors import WriteError
from letorbench.escaping import visible

#: what opens a path to be written, as `write_atomically` does
Writer = Callable[..., AbstractContextManager[IO]]
#: the seconds between two looks whether a lock is free, and those until a line says who has it
POLL, SILENCE = 0.01, 5.0
#: how many seconds a lock is waited for whose holder may be dead: on another machine, or not named
PATIENCE = 60.0
#: the bytes of the largest file that is read at once: the scores of 50 million documents
LARGEST = 2**30


def read_file(path: Path) -> bytes:
    """Return the content; OSError unless it is a regular file of at most `LARGEST` bytes."""
    with open(path, "rb", opener=_at_once) as file:
        found = os.fstat(file.fileno())
        if not stat.S_ISREG(found.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        if found.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"Larger than {LARGEST} bytes", str(path))
        return file.read(found.st_size + 1)  # some of the system's own tell no size and never end


def _at_once(path: str, flags: int) -> int:
    """Open a pipe without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def touch(path: Path) -> None:
    """Say that a file was written now; of a link, the link."""
    os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)


def refuse_links(root: Path, place: Path) -> None:
    """Raise WriteError where a place in a folder is reached by a link that is in that folder.

    The folder itself may be a link: its user named it.
    """
    for each in (place, *place.parents):
        if each != root and each.is_relative_to(root) and each.is_symlink():
            why = f"{each} is a link, and what is behind links is read alone"
            raise WriteError(place, OSError(errno.ELOOP, why))


@contextmanager
def write_atomically(path: Path, binary: bool = False) -> Iterator[IO]:
    """Open a new file that takes its name only when the block ends without an error.

    It takes the place of a link of that name.

    Raises
    ------
    WriteError
        The file cannot be written: the disk is full, the folder is read-only, ...
    """
    path = Path(path)
    with _locked(path, path.with_name(f".{path.name}.lock")), write_unlocked(path, binary) as file:
        yield file


@contextmanager
def write_unlocked(path: Path, binary: bool = False) -> Iterator[IO]:
    """Do as `write_atomically` for a caller who is the `one_writer` of the folder."""
    path = Path(path)
    unfinished = path.with_name(f".{path.name}.part")
    mode, encoding = ("xb", None) if binary else ("x", "utf-8")
    try:
        unfinished.unlink(missing_ok=True)  # a killed process left it, or a stranger a link
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
def one_writer(folder: Path, root: Path) -> Iterator[None]:
    """Wait until no other process or thread is in such a block with the folder, then hold it.

    See `refuse_links` for `root`.
    """
    refuse_links(root, folder)
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
        except OSError as error:
            if error.filename is None and error.errno:  # of an open file: the disk is full
                raise WriteError(folder, error) from None
            raise
        finally:
            shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(path: Path, lock: Path) -> Iterator[None]:
    """Hold the lock file of a path, whose folder is made first; WriteError where that fails."""
    # its import takes longer than most commands need in all
    from filelock import FileLock, Timeout

    held = FileLock(lock)
    try:  # an interruption may come as soon as the lock is taken
        try:
            lock.parent.mkdir(parents=True, exist_ok=True)
            try:
                held.acquire(SILENCE, POLL)
            except Timeout:
                holder, lives = _holder(lock)
                if sys.stderr is not None:
                    line = visible(f"letorbench: note: waiting for {lock}, which {holder} holds")
                    print(line, file=sys.stderr, flush=True)
                held.acquire(-1 if lives else PATIENCE, POLL)
        except Timeout:
            why = f"{lock} stays; remove it if {holder} does not run any more"
            raise WriteError(path, OSError(errno.ETIMEDOUT, why)) from None
        except OSError as error:
            # what is at its place is no lock of ours: a link, a folder
            raise WriteError(lock if os.path.lexists(lock) else path, error) from None
        yield
    finally:
        if held.is_locked:
            # who waits for a file that is gone begins anew; Windows removes it with the lock
            with suppress(OSError):
                lock.unlink(missing_ok=True)
            held.release()


def _holder(lock: Path) -> tuple[str, bool]:
    """Return who holds a lock, and whether that process is known to be alive.

    Where the system has no locks, the file names the process and its machine.
    """
    try:
        if sys.platform != "win32":
            import fcntl

            with open(lock, "rb", opener=_at_once) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        pass  # it is held, or was given up just now
    except (ImportError, OSError):
        with suppress(OSError, ValueError):
            process, machine, *_ = read_file(lock).decode().split("\n")
            machine = machine.partition("?")[0]  # a container's has its namespace behind it
            # one that ended on this machine has lost its lock
            return f"process {int(process)} on {machine}", machine == socket.gethostname()
        return "an unknown process", False
    return "another process", True
