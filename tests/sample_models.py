"""One small model of each kind."""

from collections.abc import Callable

import numpy as np
from conftest import random_queries

from letorbench.features import Raw
from letorbench.models import (
    MLP,
    Average,
    Float32Trees,
    Linear,
    Model,
    Quadratic,
    Separate,
    SeparateTanh,
    TreeEnsemble,
)
from letorbench.models.average import Part
from letorbench.models.base import families, family
from letorbench.rankers import Recipe

QUERIES = random_queries(np.random.default_rng(0), [60] * 5)


def of_family(name: str) -> Model:
    """The model of a family's first parameters."""
    fitted = family(name).of(QUERIES, Recipe(model=name))
    return fitted.model(fitted.start(np.random.default_rng(0)))


TREES = {
    "roots": [0, 3], "feature": [4, 0, 0, 0], "threshold": [0.5, 0, 0, 0], "left": [1, 1, 2, 3],
    "right": [2, 1, 2, 3], "value": [0.0, 1.0, 2.0, 0.5], "gain": [1.0, 0, 0, 0],
    "cover": [9.0, 4.0, 5.0, 9.0], "n_features": 5, "missing_left": [False] * 4,
}  # fmt: skip
#: one model of five features of each kind; those of a family need no line here
SAMPLES: dict[str, Callable[[], Model]] = {
    "average": lambda: Average.of(
        [Part("a", Linear(np.arange(5.0)), Raw()), Part("b", TreeEnsemble(**TREES), Raw())],
        np.array([0.25, 0.75]),
    ),
    "linear": lambda: Linear(np.arange(5.0), 0.5),
    "net": lambda: MLP(np.ones((3, 5), np.float32), np.zeros(3), np.arange(3.0)),
    "quadratic": lambda: Quadratic(
        np.zeros(5), np.ones(5), np.arange(5.0), [0, 2, 2, 3, 3, 3], [0, 4, 2], np.ones(3)
    ),
    "separate": lambda: Separate(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "separate-tanh": lambda: SeparateTanh(np.ones((2, 4)), np.ones((3, 4)), 0.0),
    "trees": lambda: TreeEnsemble(**TREES),
    "trees-float32": lambda: Float32Trees(**TREES),
}
for _name in families():
    SAMPLES.setdefault(of_family(_name).kind, lambda name=_name: of_family(name))
