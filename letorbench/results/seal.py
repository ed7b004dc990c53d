"""JSON that holds its own digest and those of the files beside it: any change of a byte shows."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from errno import EINVAL
from pathlib import Path
from typing import Any

from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.seals import digest, sealed, unsealed

#: what becomes of a damaged fold
AGAIN = "the next run of this fold makes it again"
#: the key that is added to the facts
FILES = "files"


def write_sealed(path: Path, facts: Mapping[str, Any], beside: Sequence[Path]) -> None:
    """Write facts that JSON can hold, and the digests of those files beside them that exist."""
    files = {file.name: digest(file.read_bytes()) for file in beside if file.is_file()}
    with write_atomically(path) as file:
        file.write(sealed({**facts, FILES: files}))


def read_sealed(path: Path, names: Collection[str]) -> dict[str, Any]:
    """Return the facts that `write_sealed` wrote, empty where there is no such file.

    Parameters
    ----------
    path : Path
        The file.
    names : collection of str
        The names of the files that may be beside it. No other is opened.

    Raises
    ------
    DataError
        It is not what was written, or a file beside it is not or is missing. The error names
        that file.
    """
    content = _content(path)
    while content is not None:
        try:
            return _checked(path, content, names)
        except DataError:
            before, content = content, _content(path)
            if content == before:
                raise
    return {}  # not there, or just being written anew


def _content(path: Path) -> bytes | None:
    try:
        return _regular(path).read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, f"cannot be read ({error.strerror})") from None


def _checked(path: Path, content: bytes, names: Collection[str]) -> dict[str, Any]:
    """Return the facts of the content if they and the files beside it have their digests."""
    facts = unsealed(content)
    if facts is None:
        raise _damaged(path, "its content does not have the check sum in its last line")
    files = facts.pop(FILES, None)
    if not isinstance(files, dict) or not set(files) <= set(names):
        raise _damaged(path, f"found other {FILES} than those that are written beside it")
    for name, expected in files.items():
        file = path.parent / name
        try:
            found = digest(_regular(file).read_bytes())
        except OSError as error:
            raise _damaged(file, f"cannot be read ({error.strerror})") from None
        if found != expected:
            raise _damaged(file, f"its content does not have the check sum in {path.name}")
    return facts


def _regular(path: Path) -> Path:
    """Return the path of a file; OSError where it is none, or a device that never ends."""
    if path.exists() and not path.is_file():
        raise OSError(EINVAL, "not a regular file")
    return path


def _damaged(path: Path, what: str) -> DataError:
    return DataError(f"{path}: damaged: {what}; {AGAIN}")
