"""Every benchmark, one table: `python -m benchmarks [NAME ...]`."""

from __future__ import annotations

import importlib
import pkgutil
import sys

import benchmarks
from benchmarks.table import show


def main() -> None:
    known = [m.name for m in pkgutil.iter_modules(benchmarks.__path__)]
    scripts = (
        "__main__",
        "digests",
        "scaling",
        "seeds",
        "selection",
        "stump_features",
        "table",
        "twins",
    )
    known = [name for name in known if name not in scripts]
    chosen = sys.argv[1:] or known
    for name in chosen:
        if name not in known:
            sys.exit(f"unknown benchmark {name!r}; expected one of {', '.join(known)}")
    rows = []
    for name in chosen:
        rows += importlib.import_module(f"benchmarks.{name}").rows()
    show(rows)


if __name__ == "__main__":
    main()
