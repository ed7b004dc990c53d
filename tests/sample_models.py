"""One small model of each kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import random_queries

from letorbench.models import MLP, Linear, Model, Quadratic, Separate, StumpEnsemble
from letorbench.models.separate import SeparateTanh


def lightgbm_trees() -> Model:
    pytest.importorskip("lightgbm", reason="lightgbm is not installed")
    from letorbench.rankers.lightgbm import LightGBM

    queries = random_queries(np.random.default_rng(0), [60] * 5)
    return LightGBM(rounds=3).fit_sets(queries).learned.model


def xgboost_trees() -> Model:
    pytest.importorskip("xgboost", reason="xgboost is not installed")
    from letorbench.rankers.xgboost import XGBoost

    queries = random_queries(np.random.default_rng(0), [60] * 5)
    return XGBoost(rounds=3).fit_sets(queries).learned.model


#: one model of five features of each kind
SAMPLES: dict[str, Callable[[], Model]] = {
    "linear": lambda: Linear(np.arange(5.0), 0.5),
    "net": lambda: MLP(np.ones((3, 5), np.float32), np.zeros(3), np.arange(3.0)),
    "quadratic": lambda: Quadratic(
        np.zeros(5), np.ones(5), np.arange(5.0), [0, 2, 2, 3, 3, 3], [0, 4, 2], np.ones(3)
    ),
    "separate": lambda: Separate(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "separate-tanh": lambda: SeparateTanh(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "stumps": lambda: StumpEnsemble([0, 4], [0.5, 0.5], [True, False], [1.0, 2.0], n_features=5),
    "lightgbm": lightgbm_trees,
    "xgboost": xgboost_trees,
}
