"""Numbers of a reproduction that a later one reads again: JSON with its own check sum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

from letorbench.checksum import CHECKSUM, checked, with_checksum
from letorbench.files import write_atomically
from letorbench.papers.runs import Measured
from letorbench.source import reached, source_digest

#: where the code is that numbers without data depend on
CODE = ("losses", "measures", "papers", "solvers")


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
