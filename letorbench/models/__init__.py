"""Scorers: what a ranker learns, a function from a document's features to its score."""

from __future__ import annotations

from letorbench.models.base import Model, load, save
from letorbench.models.linear import Linear
from letorbench.models.mlp import MLP
from letorbench.models.quadratic import Quadratic
from letorbench.models.separate import Separate
from letorbench.models.stumps import StumpEnsemble
from letorbench.models.trees import LightGBMTrees, XGBoostTrees

__all__ = [
    "LightGBMTrees", "Linear", "MLP", "Quadratic", "Model", "Separate", "StumpEnsemble",
    "XGBoostTrees", "load", "save",
]  # fmt: skip
