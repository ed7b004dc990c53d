"""Every benchmark, one table: `python -m benchmarks [NAME ...]`.

`--store` also puts the seconds of libraries into docs/speed.csv, which docs/speed.md shows.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.table import show, store

#: modules that have no rows for the table: commands of their own, and what others share
SCRIPTS = (
    "__main__", "best", "digests", "judging", "leaderboard", "scaling", "seeds",
    "selection", "selection_rules", "stump_features", "table", "trees", "twins",
)  # fmt: skip


def known() -> list[str]:
    """Return the modules that have rows for the table."""
    return [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in SCRIPTS]


def main() -> None:
    words = sys.argv[1:]
    chosen = [word for word in words if word != "--store"] or known()
    for name in chosen:
        if name not in known():
            sys.exit(f"unknown benchmark {name!r}; expected one of {', '.join(known())}")
    rows = []
    for name in chosen:
        rows += importlib.import_module(f"benchmarks.{name}").rows()
    show(rows)
    if "--store" in words:
        store(rows)


if __name__ == "__main__":
    main()
