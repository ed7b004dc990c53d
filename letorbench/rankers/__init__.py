"""The published algorithms, one file each.

To add a ranker, write its file: a class with a ``name`` in this folder is registered by being
there. Rankers of other packages and files are found by `letorbench.rankers.plugins`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from letorbench import registry

if TYPE_CHECKING:
    from letorbench.rankers.base import Ranker as Ranker
    from letorbench.rankers.known import load_model as load_model
    from letorbench.rankers.known import names as names
    from letorbench.rankers.known import ranker as ranker
    from letorbench.solvers.fit_result import FitResult as FitResult
    from letorbench.solvers.stopping import Validation as Validation


def places() -> dict[str, str]:
    """Return the places of the package's own rankers: ``{"listnet": "…listnet:ListNet"}``."""
    return registry.places("rankers", "name")


def classes() -> dict[str, str]:
    """Return the same places by the names of the classes: ``{"ListNet": "…:ListNet"}``."""
    return registry.by_class("rankers", "name")


__getattr__, __dir__ = registry.attach(__name__, {**classes(), **registry.imports_of(__file__)})
