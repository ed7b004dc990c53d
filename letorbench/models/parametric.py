"""Models with free parameters: what a solver needs to fit one to a loss.

A family is defined in the file of its models: a class with a ``name``, registered by being there.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from letorbench import registry
from letorbench.choices import require_choice
from letorbench.datasets.queryset import QuerySet
from letorbench.models.base import Model
from letorbench.parameters import number


class ParametricFamily(ABC):
    """A family of models f(x; theta) that is differentiable in theta.

    The features come as they are, (n_docs, n_features) float32. A family that transforms them
    first (it standardises them or multiplies them) stores the transformation in its models.

    name:          what users call it, as in ``--set model=quadratic``.
    formula:       its score, in plain text.
    drawn:         whether the first parameters are drawn at random, as zero is a saddle point.
    auto_features: what `auto` does to features whose scales do not compare.
    n_parameters:  the length of theta.
    """

    name: ClassVar[str]
    formula: ClassVar[str]
    drawn: ClassVar[bool] = False
    auto_features: ClassVar[str] = "query-minmax"
    n_parameters: int

    @classmethod
    @abstractmethod
    def of(cls, train: QuerySet, settings: "FamilySettings") -> Self:
        """Return the family for the features of a training set."""

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Return theta (n_parameters,) where the search begins.

        It is zero, except where zero is a saddle point.
        """
        return np.zeros(self.n_parameters)

    def penalised(self) -> np.ndarray:
        """Return (n_parameters,): 1 for a parameter that the prior penalises, else 0."""
        return np.ones(self.n_parameters)

    @abstractmethod
    def model(self, theta: np.ndarray) -> Model:
        """Return the model f(.; theta)."""

    def scores(self, theta: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return the scores f(x_i; theta) of the documents, (n_docs,), in full precision."""
        return self.model(theta).predict(features)

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return d f(x_i; theta) / d theta_k of those first parameters that scores are linear in.

        (n_docs, n) float64; n is 0 where there are none.
        """
        return np.empty((len(features), 0))

    @abstractmethod
    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        """Return a loss's gradient by theta, given its gradient by the scores (chain rule).

        It is the sum over documents of score_gradient[i] d f(x_i; theta) / d theta, (n_parameters,)
        float64, with score_gradient (n_docs,) float64.
        """


def families() -> list[str]:
    """Return the names of all families, sorted."""
    return list(registry.places("models", "name"))


def family(name: str) -> type[ParametricFamily]:
    """Return the family of that name; UsageError suggests the nearest."""
    places = registry.places("models", "name")
    return registry.load(places[require_choice(name, list(places), "model")])


@dataclass
class FamilySettings:
    """The hyper-parameters of the families, for a ranker that fits any of them.

    Parameters
    ----------
    standardise : bool
        linear: use the features with mean 0 and variance 1 on the training set, instead of the
        features as they are. "quadratic" and "mlp" always do, the models of two vectors
        never do.
    rho : float
        quadratic: keep the products whose abs(correlation) with the label is at least rho.
    query_features : int
        bilinear, bilinear-tanh, distance: how many features, the first ones, are the query's; 0
        is half of them.
    dimensions : int
        bilinear, bilinear-tanh, distance: of the space that both vectors are mapped into.
    tau : float
        distance: what it is divided by.
    """

    standardise: bool = True
    rho: float = number(0.1, least=0, below=1)
    query_features: int = number(0, least=0)
    dimensions: int = number(10, least=1)
    tau: float = number(1.0, above=0)
    # a ranker that lets users set these declares them
    intercept = False
    hidden = 10
