"""Files of a reproduction that a later one reads again: each has a check sum.

JSON holds its own. A table for people has it in a file beside it, `claims.csv.seal`. While the
table is written that file knows its old content, too, so that a kill between both costs nothing.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from letorbench.checksum import CHECKSUM, checked, digest, with_checksum
from letorbench.errors import DataError
from letorbench.files import write_atomically
from letorbench.papers.claims import Measured
from letorbench.source import reached, source_digest

#: where the code is that numbers without data depend on
CODE = ("losses", "measures", "papers", "solvers")


def write_kept(path: Path, text: str) -> None:
    """Write a text and its check sum."""
    new, old = digest(text.encode()), ""
    with suppress(OSError):
        old = digest(path.read_bytes())
    if old not in ("", new):
        _write_seal(path, [new, old])
        with write_atomically(path) as file:
            file.write(text)
    _write_seal(path, [new])
    if not old:
        with write_atomically(path) as file:
            file.write(text)


def read_kept(path: Path) -> str:
    """The text that `write_kept` wrote; DataError where it is not. One without a seal is taken."""
    content, seal = path.read_bytes(), _seal_of(path)
    if seal.is_file():
        facts = checked(seal.read_bytes()) or {}
        if digest(content) not in facts.get("digests", ()):
            raise DataError(
                f"{path}: damaged: its content does not have the check sum in {seal.name}; remove "
                "both, and rerun the parts of the paper"
            )
    try:
        return content.decode()
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: found a byte that is no UTF-8 at {error.start}") from None


def write_kept_json(path: Path, facts: Mapping[str, Any]) -> None:
    """Write facts that JSON can hold, with their check sum."""
    with write_atomically(path) as file:
        file.write(with_checksum(facts))


def read_kept_json(path: Path) -> dict[str, Any]:
    """The facts that `write_kept_json` wrote; none where they are damaged or there are none.

    Facts that never had a check sum are taken.
    """
    if not path.is_file():
        return {}
    content = path.read_bytes()
    facts = checked(content)
    if facts is None and CHECKSUM.encode() not in content:
        with suppress(ValueError, RecursionError):
            facts = json.loads(content)
    return facts if isinstance(facts, dict) else {}


def kept_numbers(
    path: Path, asked: Mapping[str, Any], make: Callable[[], Mapping[str, Measured]]
) -> dict[str, Measured]:
    """What `make` gives, kept in a file; made anew for other questions or by other code.

    Parameters
    ----------
    path : Path
        The file.
    asked : mapping
        What the numbers depend on besides the code, as JSON can hold it.
    make : callable
        Computes the numbers.
    """
    asked = {**asked, "code": source_digest(reached(CODE))}
    stored = read_kept_json(path)
    if stored.get("asked") == asked:
        return {name: Measured(**each) for name, each in stored["numbers"].items()}
    numbers = dict(make())
    facts = {name: asdict(each) for name, each in numbers.items()}
    write_kept_json(path, {"asked": asked, "numbers": facts})
    return numbers


def _write_seal(path: Path, digests: Sequence[str]) -> None:
    with write_atomically(_seal_of(path)) as file:
        file.write(with_checksum({"digests": list(digests)}))


def _seal_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.seal")
