"""A model with free parameters: what a solver needs to fit it to a loss."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from letorbench.models.base import Model


class ParametricFamily(ABC):
    """A family of models f(x; theta) that is differentiable in theta.

    The features come as they are, (n_docs, n_features) float32. A family that transforms them
    first (it standardises them or multiplies them) stores the transformation in its models.

    Attributes
    ----------
    n_parameters : int
        The length of theta.
    """

    n_parameters: int

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

    @abstractmethod
    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        """Return a loss's gradient by theta, given its gradient by the scores (chain rule).

        Parameters
        ----------
        theta : ndarray of shape (n_parameters,)
        features : ndarray of shape (n_docs, n_features), float32
        score_gradient : ndarray of shape (n_docs,), float64
            The loss's derivative by each document's score.

        Returns
        -------
        ndarray of shape (n_parameters,)
            The sum over documents of score_gradient[i] d f(x_i; theta) / d theta.
        """
