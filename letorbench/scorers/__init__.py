"""Scorers: what a ranker learns, a function from a document's features to its score."""

from __future__ import annotations

from letorbench.scorers.base import Scorer, load, save
from letorbench.scorers.boosted import LightGBMTrees, XGBoostTrees
from letorbench.scorers.linear import Linear
from letorbench.scorers.net import Net
from letorbench.scorers.stumps import StumpEnsemble

__all__ = [
    "LightGBMTrees", "Linear", "Net", "Scorer", "StumpEnsemble", "XGBoostTrees", "load", "save",
]  # fmt: skip
