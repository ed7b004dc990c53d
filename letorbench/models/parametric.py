"""Parametric families of models: the interface through which solvers fit them to a loss.

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

    Features arrive unscaled, (n_docs, n_features) float32. A family that transforms them stores the
    transformation in its models.
    """

    name: ClassVar[str]  # as in ``--set model=quadratic``
    formula: ClassVar[str]  # the score, in plain text
    drawn: ClassVar[bool] = False  # whether the first theta is random, as zero is a saddle point
    auto_features: ClassVar[str] = "query-minmax"  # `auto` for features of different scales
    n_parameters: int

    @classmethod
    @abstractmethod
    def of(cls, train: QuerySet, settings: "FamilySettings") -> Self:
        """Return the family for the features of a training set."""

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Return the first theta (n_parameters,): zero, unless zero is a saddle point."""
        return np.zeros(self.n_parameters)

    def penalised(self) -> np.ndarray:
        """Return (n_parameters,): 1 for a parameter that the prior penalises, else 0."""
        return np.ones(self.n_parameters)

    @abstractmethod
    def model(self, theta: np.ndarray) -> Model:
        """Return the model f(.; theta)."""

    def scores(self, theta: np.ndarray, features: np.ndarray) -> np.ndarray:
        """Return f(x_i; theta) of the documents, (n_docs,), in full precision."""
        return self.model(theta).predict(features)

    def design(self, features: np.ndarray) -> np.ndarray:
        """Return d f / d theta (n_docs, n) of the first n parameters, if f is linear in them."""
        return np.empty((len(features), 0))

    @abstractmethod
    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        """Return a loss's gradient by theta, given its gradient by the scores (chain rule)."""


def families() -> list[str]:
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
        linear: scale features to mean 0 and variance 1 on the training set. "quadratic" and "mlp"
        always do this, the models of two vectors never.
    rho : float
        quadratic: keep the products whose abs(correlation) with the label is at least rho.
    query_features : int
        bilinear, bilinear-tanh, distance: the number of features, the first ones, that describe the
        query; 0 is half of all.
    dimensions : int
        bilinear, bilinear-tanh, distance: the dimensions of the space into which both vectors are
        mapped.
    tau : float
        distance: the divisor of the squared distance.
    """

    standardise: bool = True
    rho: float = number(0.1, least=0, below=1)
    query_features: int = number(0, least=0)
    dimensions: int = number(10, least=1)
    tau: float = number(1.0, above=0)
    # rankers that let users set these declare them as fields
    intercept = False
    hidden = 10
