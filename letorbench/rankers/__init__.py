"""The published algorithms, one file each.

To add a ranker, write its file: a class with a ``name`` in this folder is registered by being
there. Rankers of other packages and files are found by `letorbench.rankers.plugins`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from letorbench import registry
from letorbench.choices import require_choice

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker as Ranker
    from letorbench.rankers.base import load_model as load_model
    from letorbench.solvers.fit_result import FitResult as FitResult
    from letorbench.solvers.stopping import Validation as Validation


def places() -> dict[str, str]:
    """Return the places of the package's own rankers: ``{"listnet": "…listnet:ListNet"}``."""
    return registry.places("rankers", "name")


def classes() -> dict[str, str]:
    """Return the same places by the names of the classes: ``{"ListNet": "…:ListNet"}``."""
    return registry.by_class("rankers", "name")


def names() -> list[str]:
    """Return the names of all rankers, those of plug-ins too, sorted."""
    from letorbench.rankers import plugins

    return sorted({*places(), *plugins.load_all()})


def ranker(name: str) -> type[Ranker]:
    """Return the ranker class of that name.

    Raises
    ------
    UsageError
        There is none; the message suggests the nearest name.

    Examples
    --------
    >>> ranker("listnet")().top
    1
    """
    from letorbench.rankers import plugins

    if name in places():
        return registry.load(places()[name])
    found = plugins.load_all()
    return found[require_choice(name, sorted({*places(), *found}), "algorithm")]


__getattr__, __dir__ = registry.attach(__name__, {**classes(), **registry.imports_of(__file__)})
