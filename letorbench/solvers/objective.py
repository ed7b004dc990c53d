"""What the general solvers minimise: a loss of a parametric family, with a Gaussian prior."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from letorbench.arithmetic import dot
from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.losses.base import Loss
from letorbench.models.linear import LinearFamily
from letorbench.models.parametric import ParametricFamily
from letorbench.solvers.curvature import mean_curvature
from letorbench.solvers.deadline import NEVER, Deadline
from letorbench.solvers.fit_result import FitResult
from letorbench.solvers.validation import Validation


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss's sum over the queries / count + l2/2 |theta|^2.

    Parameters
    ----------
    family : ParametricFamily
    loss : Loss
    queries : QuerySet
    count : int
        What to average over: the number of queries, or of documents.
    l2 : float
        The strength of the prior on the penalised parameters; see also `with_prior`.
    """

    family: ParametricFamily
    loss: Loss
    queries: QuerySet
    count: int
    l2: float = 0.0

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient (n_parameters,) at theta (n_parameters,)."""
        with np.errstate(over="ignore", invalid="ignore"):  # the solvers look for such values
            losses, gradient = self._losses(theta)
            value, gradient = float(losses.sum()) / self.count, gradient / self.count
            if self.l2 == 0.0:
                return value, gradient
            value += 0.5 * dot(self._penalty, theta * theta)
            return value, gradient + self._penalty * theta

    def _losses(self, theta: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the loss of each query, and the gradient of their sum by theta."""
        if isinstance(self.family, LinearFamily):
            model = self.family.model(theta)
            linear = self.loss.of_linear(model.weights, model.bias, self.queries)
            if linear is not None:
                return linear.value, self.family.by_theta(linear.by_weights, linear.by_bias)
        features = self.queries.features
        losses, by_scores = self.loss(self.family.scores(theta, features), self.queries)
        return losses, self.family.gradient(theta, features, by_scores)

    @cached_property
    def _penalty(self) -> np.ndarray:
        return self.l2 * self.family.penalised()

    def with_prior(self, l2: float, start: np.ndarray) -> Objective:
        """Return the objective with l2 times the mean curvature of the loss at the start.

        Parameters
        ----------
        l2 : float
            The strength of the prior in units of the curvature, see `solvers.curvature`.
        start : ndarray of shape (n_parameters,)
        """
        if l2 == 0.0:
            return self
        bare = replace(self, l2=0.0)
        curvature = mean_curvature(
            lambda theta: bare(theta)[1],
            lambda theta: self.family.scores(theta, self.queries.features),
            start,
            self.family.penalised(),
        )
        return replace(self, l2=l2 * curvature)


class Solver(ABC):
    """A way to fit any parametric family to any loss."""

    @abstractmethod
    def fit(
        self,
        family: ParametricFamily,
        loss: Loss,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        """Return the model of the family that fits the training set, or as far as time allows."""


def require_prior(l2: float) -> None:
    """Raise UsageError where l2 is no strength of a prior."""
    if not 0.0 <= l2 < np.inf:
        raise UsageError(f"found l2={l2}, expected 0 or more")
