"""The published algorithms, one file each; a file here is found and registered unasked.

So is a ranker of another package or file, see `letorbench.rankers.plugins`.
"""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache

from letorbench.errors import UsageError
from letorbench.rankers.base import RANKERS, Ranker
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

__all__ = ["Learned", "Ranker", "Validation", "names", "ranker"]


@cache
def _import_all() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def _load() -> None:
    from letorbench.rankers.plugins import load_all  # it needs this package's base

    _import_all()
    load_all()


def names() -> list[str]:
    """The names of all rankers, sorted."""
    _load()
    return sorted(RANKERS)


def ranker(name: str) -> type[Ranker]:
    """The ranker class of that name; UsageError lists the names."""
    if name not in names():
        raise UsageError(f"unknown algorithm {name!r}; expected one of {', '.join(names())}")
    return RANKERS[name]
