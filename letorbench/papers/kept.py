"""What a reproduction keeps for a later one: JSON with its own checksum."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from letorbench.checksum import checked, with_checksum
from letorbench.files import write_atomically
from letorbench.papers.runs import Measured
from letorbench.source import reached, source_digest

#: where the code is that the facts depend on
CODE = ("losses", "measures", "papers", "rankers", "solvers")


def kept(path: Path, asked: Mapping[str, Any], make: Callable[[], Any]) -> Any:
    """What `make` gives, as JSON holds it, kept in a file.

    It is made anew for other questions, by other code, and where the file is damaged.

    Parameters
    ----------
    path : Path
        The file.
    asked : mapping
        What the facts depend on besides the code, as JSON can hold it.
    make : callable
        Computes the facts.
    """
    asked = {**asked, "code": source_digest(reached(CODE))}
    stored = checked(path.read_bytes()) if path.is_file() else None
    if stored is None or stored.get("asked") != asked:
        stored = {"asked": asked, "found": json.loads(json.dumps(make()))}
        with write_atomically(path) as file:
            file.write(with_checksum(stored))
    return stored["found"]


def kept_numbers(
    path: Path, asked: Mapping[str, Any], make: Callable[[], Mapping[str, Measured]]
) -> dict[str, Measured]:
    """The numbers of `make`, kept in the same way."""
    found = kept(path, asked, lambda: {name: asdict(each) for name, each in make().items()})
    return {name: Measured(**each) for name, each in found.items()}
