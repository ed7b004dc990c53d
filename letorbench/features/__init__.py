"""Transformations of features, fitted on a training part where they are fitted at all.

To add a transformation, write its file: a subclass of `Transformation` in this folder is registered
by being there.
"""

from importlib import import_module
from pkgutil import iter_modules

from letorbench.features.transformations import (
    AUTO,
    TRANSFORMATIONS,
    QueryMinMax,
    QueryRank,
    QueryZScore,
    Raw,
    SignedLog,
    Transformation,
    ZScore,
    features_name,
    resolved,
    stored,
    transformation,
)

__all__ = [
    "AUTO", "QueryMinMax", "QueryRank", "QueryZScore", "Raw", "SignedLog", "TRANSFORMATIONS",
    "Transformation", "ZScore", "features_name", "resolved", "stored", "transformation",
]  # fmt: skip

for _each in iter_modules(__path__):
    import_module(f"{__name__}.{_each.name}")
