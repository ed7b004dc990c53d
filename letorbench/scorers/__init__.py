"""Scorers: what a ranker learns, a function from a document's features to its score."""

from __future__ import annotations

from letorbench.scorers.base import Scorer, load, save
from letorbench.scorers.boosted import LightGBMTrees, XGBoostTrees
from letorbench.scorers.linear import Linear
from letorbench.scorers.net import Net
from letorbench.scorers.quadratic import Quadratic
from letorbench.scorers.separate import Separate
from letorbench.scorers.stumps import StumpEnsemble

__all__ = [
    "LightGBMTrees", "Linear", "Net", "Quadratic", "Scorer", "Separate", "StumpEnsemble",
    "XGBoostTrees", "load", "save",
]  # fmt: skip
