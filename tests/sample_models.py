"""One small model of each kind."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from conftest import random_queries

from letorbench.models import (
    MLP,
    Linear,
    Model,
    Quadratic,
    Separate,
    SeparateTanh,
    StumpEnsemble,
    TreeEnsemble,
)
from letorbench.models.parametric import families, family
from letorbench.rankers import Recipe, ranker

QUERIES = random_queries(np.random.default_rng(0), [60] * 5)


def trees(name: str) -> Model:
    pytest.importorskip(name, reason=f"{name} is not installed")
    return ranker(name)(rounds=3).fit_sets(QUERIES).learned.model


def of_family(name: str) -> Model:
    """The model of a family's first parameters."""
    fitted = family(name).of(QUERIES, Recipe(model=name))
    return fitted.model(fitted.start(np.random.default_rng(0)))


#: one model of five features of each kind; those of a family need no line here
SAMPLES: dict[str, Callable[[], Model]] = {
    "linear": lambda: Linear(np.arange(5.0), 0.5),
    "net": lambda: MLP(np.ones((3, 5), np.float32), np.zeros(3), np.arange(3.0)),
    "quadratic": lambda: Quadratic(
        np.zeros(5), np.ones(5), np.arange(5.0), [0, 2, 2, 3, 3, 3], [0, 4, 2], np.ones(3)
    ),
    "separate": lambda: Separate(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "separate-tanh": lambda: SeparateTanh(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "stumps": lambda: StumpEnsemble([0, 4], [0.5, 0.5], [True, False], [1.0, 2.0], n_features=5),
    "trees": lambda: TreeEnsemble(
        [0, 3],
        [4, 0, 0, 0],
        [0.5, 0, 0, 0],
        [1, 1, 2, 3],
        [2, 1, 2, 3],
        [0.0, 1.0, 2.0, 0.5],
        [1.0, 0, 0, 0],
        [9.0, 4.0, 5.0, 9.0],
        n_features=5,
    ),
    "lightgbm": lambda: trees("lightgbm"),
    "xgboost": lambda: trees("xgboost"),
}
for _name in families():
    SAMPLES.setdefault(of_family(_name).kind, lambda name=_name: of_family(name))
