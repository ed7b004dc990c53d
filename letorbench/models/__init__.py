"""Models: what a ranker learns, a function from a document's features to its score.

The module of a model also holds its parametric family, where it has one: what a solver needs to
fit it to a loss.
"""

from __future__ import annotations

from letorbench.models.base import Model
from letorbench.models.linear import Linear, LinearFamily
from letorbench.models.mlp import MLP, MLPFamily
from letorbench.models.model_file import load, save
from letorbench.models.parametric import ParametricFamily
from letorbench.models.quadratic import Quadratic, QuadraticFamily
from letorbench.models.separate import Separate, SeparateFamily
from letorbench.models.stumps import StumpEnsemble
from letorbench.models.trees import LightGBMTrees, XGBoostTrees

__all__ = [
    "LightGBMTrees", "Linear", "LinearFamily", "MLP", "MLPFamily", "Model", "ParametricFamily",
    "Quadratic", "QuadraticFamily", "Separate", "SeparateFamily", "StumpEnsemble",
    "XGBoostTrees", "load", "save",
]  # fmt: skip
