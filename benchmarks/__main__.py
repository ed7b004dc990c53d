"""Every benchmark, one table: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.table import show

#: modules that have no rows for the table: commands of their own, and what others share
SCRIPTS = (
    "__main__", "digests", "scaling", "seeds", "selection", "selection_rules", "stump_features",
    "table", "twins",
)  # fmt: skip


def known() -> list[str]:
    """Return the modules that have rows for the table."""
    return [m.name for m in pkgutil.iter_modules(benchmarks.__path__) if m.name not in SCRIPTS]


def main() -> None:
    chosen = sys.argv[1:] or known()
    for name in chosen:
        if name not in known():
            sys.exit(f"unknown benchmark {name!r}; expected one of {', '.join(known())}")
    rows = []
    for name in chosen:
        rows += importlib.import_module(f"benchmarks.{name}").rows()
    show(rows)


if __name__ == "__main__":
    main()
