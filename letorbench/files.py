"""Files that are either complete or absent, and folders with one writer at a time.

A file or a folder is written next to its place under another name, then renamed. Meanwhile its
writer holds a lock. The system releases the lock of a dead process, so the next writer gets it and
replaces the remains.

A folder may come from a stranger. Existing files are never opened for writing, and only regular
files are read. A JSON file may end in a checksum of the lines before it, so that any changed byte
shows.
"""

import errno
import json
import os
import shutil
import stat
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from hashlib import blake2b
from pathlib import Path
from typing import IO, Any

from letorbench.errors import WriteError
from letorbench.escaping import visible

#: opens a path for writing, as `write_atomically` does
Writer = Callable[..., AbstractContextManager[IO]]
#: the seconds between two attempts to lock, and those before a line names the lock's holder
POLL, SILENCE = 0.01, 5.0
#: the seconds to wait for a lock whose holder may be dead: on another machine, or unnamed
PATIENCE = 60.0
#: the bytes of the largest file that is read at once: the scores of 50 million documents
LARGEST = 2**30
#: the key of the checksum, which is the last one; the first release named it so
CHECKSUM = "seal"


def read_file(path: Path) -> bytes:
    """Return the content; OSError unless it is a regular file of at most `LARGEST` bytes."""
    with open(path, "rb", opener=_at_once) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode):
            raise OSError(errno.EINVAL, "Not a regular file", str(path))
        if status.st_size > LARGEST:
            raise OSError(errno.EFBIG, f"Larger than {LARGEST} bytes", str(path))
        return file.read(status.st_size + 1)  # some system files report no size and never end


def _at_once(path: str, flags: int) -> int:
    """Open a pipe without waiting for its writer."""
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))


def touch(path: Path) -> None:
    """Set the time of writing of a file to now; of a link, that of the link itself."""
    os.utime(path, follow_symlinks=os.utime not in os.supports_follow_symlinks)


def refuse_links(root: Path, place: Path) -> None:
    """Raise WriteError if a place in a folder is reached by a link that is in that folder."""
    # the folder itself may be a link: its user named it
    for each in (place, *place.parents):
        if each != root and each.is_relative_to(root) and each.is_symlink():
            why = f"{each} is a link, and what is behind links is read alone"
            raise WriteError(place, OSError(errno.ELOOP, why))


@contextmanager
def write_atomically(path: Path, binary: bool = False) -> Iterator[IO]:
    """Open a new file that takes its name, or a link's place, once the block ends without error."""
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
        unfinished.unlink(missing_ok=True)  # from a killed process, or a stranger's link
        with open(unfinished, mode, encoding=encoding) as file:
            yield file
        unfinished.replace(path)
    except OSError as error:
        # errors of other files that the block reads already name them
        if error.filename in (None, str(unfinished)):
            raise WriteError(path, error) from None
        raise
    finally:
        with suppress(OSError):
            unfinished.unlink(missing_ok=True)


@contextmanager
def one_writer(folder: Path, root: Path) -> Iterator[None]:
    """Wait until no other process or thread holds the folder, then hold it; see `refuse_links`."""
    refuse_links(root, folder)
    with _locked(folder, Path(folder) / ".lock"):
        yield


@contextmanager
def unfinished_folder(folder: Path) -> Iterator[Path]:
    """Make a folder for the block and remove it at the end; wait while another process has it."""
    with _locked(folder, folder.with_name(f"{folder.name}.lock")):
        try:
            shutil.rmtree(folder, ignore_errors=True)  # from a killed process
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
    """Hold the lock file of a path, whose folder is made first; WriteError if that fails."""
    # importing it takes longer than most commands need in all
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
            # something else is in its place: a link, a folder
            raise WriteError(lock if os.path.lexists(lock) else path, error) from None
        yield
    finally:
        if held.is_locked:
            # whoever waits for a removed file begins anew; Windows removes it with the lock
            with suppress(OSError):
                lock.unlink(missing_ok=True)
            held.release()


def _holder(lock: Path) -> tuple[str, bool]:
    """Return the holder of a lock, and whether that process is known to be alive."""
    import socket

    # on a system without locks, the file names the process and its machine
    try:
        if sys.platform != "win32":
            import fcntl

            with open(lock, "rb", opener=_at_once) as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except (BlockingIOError, FileNotFoundError):
        pass  # it is held, or was released just now
    except (ImportError, OSError):
        with suppress(OSError, ValueError):
            process, machine, *_ = read_file(lock).decode().split("\n")
            machine = machine.partition("?")[0]  # a container's name has its namespace behind it
            # a process that ended on this machine has lost its lock
            return f"process {int(process)} on {machine}", machine == socket.gethostname()
        return "an unknown process", False
    return "another process", True


def with_checksum(facts: Mapping[str, Any]) -> str:
    """Return facts as JSON text that ends with their checksum."""
    text = json.dumps(facts, indent=1)
    return f'{text[:-2]},\n "{CHECKSUM}": "{digest(text.encode())}"\n}}\n'


def checked(content: bytes) -> dict[str, Any] | None:
    """Return the facts of a content by `with_checksum`; None for any other content."""
    text, _, seal = content.rpartition(f',\n "{CHECKSUM}": '.encode())
    text += b"\n}"
    if seal != f'"{digest(text)}"\n}}\n'.encode():
        return None
    try:
        facts = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return facts if isinstance(facts, dict) else None


def digest(content: bytes) -> str:
    """Return a 128-bit digest as hex."""
    return blake2b(content, digest_size=16).hexdigest()
