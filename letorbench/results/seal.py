"""JSON that holds its own digest and those of the files beside it: any change of a byte shows."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from typing import Any

from letorbench.errors import DataError
from letorbench.files import write_atomically

#: the keys that are added to the facts; the seal stands last
FILES, SEAL = "files", "seal"


def write_sealed(path: Path, facts: Mapping[str, Any], beside: Sequence[Path]) -> None:
    """Write facts that JSON can hold, and the digests of those files beside them that exist."""
    files = {file.name: _digest(file.read_bytes()) for file in beside if file.is_file()}
    with write_atomically(path) as file:
        file.write(_sealed({**facts, FILES: files}))


def read_sealed(path: Path) -> dict[str, Any]:
    """Return the facts that `write_sealed` wrote, empty where there is no such file.

    Raises
    ------
    DataError
        It is not what was written, or a file beside it is not or is missing. The error names
        that file.
    """
    content = _content(path)
    while content is not None:
        try:
            return _checked(path, content)
        except DataError:
            before, content = content, _content(path)
            if content == before:
                raise
    return {}  # not there, or just being written anew


def _content(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _damaged(path, f"cannot be read ({error.strerror})") from None


def _checked(path: Path, content: bytes) -> dict[str, Any]:
    """Return the facts of the content if they and the files beside it have their digests."""
    try:
        facts = json.loads(content)
        sealed = facts.pop(SEAL)
        same = content == _sealed(facts).encode() and isinstance(sealed, str)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        same = False
    if not same:
        raise _damaged(path, "its content does not have the check sum in its last line")
    for name, expected in facts.pop(FILES).items():
        file = path.parent / name
        try:
            found = _digest(file.read_bytes())
        except OSError as error:
            raise _damaged(file, f"cannot be read ({error.strerror})") from None
        if found != expected:
            raise _damaged(file, f"its content does not have the check sum in {path.name}")
    return facts


def _sealed(facts: Mapping[str, Any]) -> str:
    """Return facts as text whose last line is a digest of the lines before it."""
    text = json.dumps(facts, indent=1)
    return f'{text[:-2]},\n "{SEAL}": "{_digest(text.encode())}"\n}}\n'


def _damaged(path: Path, what: str) -> DataError:
    return DataError(f"{path}: damaged: {what}; the next run of this fold makes it again")


def _digest(content: bytes) -> str:
    return blake2b(content, digest_size=16).hexdigest()
