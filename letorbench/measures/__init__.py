"""Measures: values that print and parse as text, computed from scores in file order.

A measure is one file of this package, which registers itself: adding one is adding a file.
"""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules

from letorbench.measures.base import MEASURES, Measure, parse
from letorbench.measures.evaluation import default_measures, evaluate
from letorbench.measures.rankings import Rankings, rank
from letorbench.measures.repeated import Repeated

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

__all__ = [
    "MEASURES", "Measure", "Rankings", "Repeated", "default_measures", "evaluate", "parse", "rank",
]  # fmt: skip
