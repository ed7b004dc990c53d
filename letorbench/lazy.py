"""Names of a package that are imported when they are first used (PEP 562)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any


def load(place: str) -> Any:
    """Import what `package.module:name` says, or the module of a place without a name.

    Examples
    --------
    >>> load("math:tau") > 6
    True
    """
    module, _, name = place.partition(":")
    found = import_module(module)
    return getattr(found, name) if name else found


def attach(
    package: str, places: Mapping[str, str]
) -> tuple[Callable[[str], Any], Callable[[], list[str]]]:
    """Make the functions `__getattr__` and `__dir__` of a package whose names are imported late.

    Parameters
    ----------
    package : str
        The package's `__name__`, for the message of an AttributeError.
    places : mapping of str to str
        From each public name to its place, ``package.module:name``.

    Returns
    -------
    tuple of callables
        `__getattr__` and `__dir__`.

    Examples
    --------
    >>> get, names = attach("shapes", {"circle": "math:pi"})
    >>> round(get("circle"), 2), names()
    (3.14, ['circle'])
    """

    def get(name: str) -> Any:
        if name not in places:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return load(places[name])

    def names() -> list[str]:
        return sorted(places)

    return get, names
