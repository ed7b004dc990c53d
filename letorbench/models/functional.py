"""What an optimiser needs of a functional."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from letorbench.models import Model


class Functional(ABC):
    """f(x; theta), differentiable in theta (n_parameters,) float64.

    Features are (n_docs, n_features) float32 as they come; what a functional does to them
    first (standardise, multiply) is its own and becomes part of its scorer.
    """

    n_parameters: int

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """(n_parameters,) where the search begins: at zero unless that is a saddle point."""
        return np.zeros(self.n_parameters)

    def penalised(self) -> np.ndarray:
        """(n_parameters,) 1 for what the Gaussian prior holds, 0 for what it leaves alone."""
        return np.ones(self.n_parameters)

    @abstractmethod
    def model(self, theta: np.ndarray) -> Model:
        """The functional at theta."""

    @abstractmethod
    def pull_back(
        self, theta: np.ndarray, features: np.ndarray, gradient: np.ndarray
    ) -> np.ndarray:
        """(n_parameters,) sum over documents of gradient_i d f(x_i; theta) / d theta.

        gradient: (n_docs,) float64, the loss's by the scores.
        """
