"""The published algorithms, one file each.

A class with a ``name`` in this folder is registered by being there: a new ranker is a new file.
`letorbench.rankers.plugins` loads rankers of other packages and files.
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
    """Return where the package's own rankers are: ``{"listnet": "…listnet:ListNet"}``."""
    return registry.places("rankers", "name")


def classes() -> dict[str, str]:
    """Return the same places by class name: ``{"ListNet": "…:ListNet"}``."""
    return registry.by_class("rankers", "name")


__getattr__, __dir__ = registry.attach(__name__, {**classes(), **registry.imports_of(__file__)})
