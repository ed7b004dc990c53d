"""Transformations of features, fitted on a training part where they are fitted at all.

To add a transformation, write its file and add it to the table and to `FeaturesName` below.

Examples
--------
>>> from letorbench.features import transformation
>>> transformation("query-minmax").formula
'(x - min) / (max - min), over the query; 0 where max = min'
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal

from letorbench.choices import require_choice
from letorbench.errors import DataError
from letorbench.features.auto import AUTO, resolved
from letorbench.features.query_minmax import QueryMinMax
from letorbench.features.query_rank import QueryRank
from letorbench.features.query_zscore import QueryZScore
from letorbench.features.raw import Raw
from letorbench.features.signed_log import SignedLog
from letorbench.features.transformation import Transformation
from letorbench.features.zscore import ZScore

__all__ = [
    "AUTO", "FeaturesName", "QueryMinMax", "QueryRank", "QueryZScore", "Raw", "SignedLog",
    "TRANSFORMATIONS", "Transformation", "ZScore", "features_name", "resolved", "stored",
    "transformation",
]  # fmt: skip

FeaturesName = Literal[
    "auto", "raw", "query-minmax", "query-zscore", "zscore", "signed-log", "rank"
]
#: name -> transformation
TRANSFORMATIONS: Mapping[str, type[Transformation]] = MappingProxyType(
    {each.name: each for each in (Raw, QueryMinMax, QueryZScore, ZScore, SignedLog, QueryRank)}
)


def transformation(name: str) -> type[Transformation]:
    """Return the transformation of that name; UsageError suggests the nearest."""
    return TRANSFORMATIONS[require_choice(name, list(TRANSFORMATIONS), "feature transformation")]


def features_name(name: str) -> str:
    """Return a transformation's name or "auto"; UsageError for anything else."""
    return require_choice(name, [AUTO, *TRANSFORMATIONS], "feature transformation")


def stored(facts: object, n_features: int) -> Transformation:
    """Return the fitted transformation that a model's file holds.

    Raises
    ------
    DataError
        It is none, or one of another number of features.
    """
    name = facts.get("name") if isinstance(facts, dict) else None
    if not isinstance(name, str) or name not in TRANSFORMATIONS:
        raise DataError(
            f"found the feature transformation {name!r}, "
            f"expected one of {', '.join(TRANSFORMATIONS)}"
        )
    fitted = TRANSFORMATIONS[name].from_json(facts)
    for what, values in vars(fitted).items():
        if len(values) != n_features:
            raise DataError(f"{name}: {what}: found {len(values)} numbers, expected {n_features}")
    return fitted
