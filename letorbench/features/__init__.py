"""Transformations of features, fitted on a training part where they are fitted at all."""

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
