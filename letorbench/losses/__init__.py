"""Losses: scores and labels of queries to a value per query and a gradient per document.

A loss is a function registered under its name in one of this package's files; adding one is
adding a function. `lambdas` holds the forces that are no loss's gradient.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from letorbench.losses.base import LOSSES, Loss, loss

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = ["LOSSES", "Loss", "loss"]
