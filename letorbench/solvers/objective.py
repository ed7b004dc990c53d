"""The objective of the general solvers: a parametric family's loss with a Gaussian prior.

A prior l2/2 |theta|^2 changes a model if l2 is near the second derivatives of the loss. These
differ by orders of magnitude between losses (a sum over pairs, a mean over documents), and with
the number and the scale of the features. In units of their mean,

    c = trace(H) / n,  H the Hessian of the loss by its n penalised parameters,

l2 means the same everywhere: a loss that is c times as large has c times the prior and the same
minimum.
"""

import math
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from letorbench.compiled.arithmetic import backward_solve, cholesky, dot, forward_solve, gram
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss, weighted_sum
from letorbench.models.base import Model, ParametricFamily
from letorbench.models.linear import products

#: one direction per prime measures the curvature; the prime's square root makes its signs
PRIMES = np.array([2, 3, 5, 7, 11, 13, 17, 19])
#: the most that a score changes where the curvature is measured: one feature of an outlier must not
#: decide how strong the prior is, which e^s of its score would do
FARTHEST = 5.0
#: the relative rounding of a float64
EPSILON = float(np.finfo(np.float64).eps)
#: the most rows, about, of a Gram matrix
MOST_ROWS = 20_000
#: directions that bend less than this share of the mean are stretched no further
FLATTEST = 1e-6


@dataclass(frozen=True, eq=False)
class Objective:
    """The loss's sum over the queries / count + l2/2 |theta|^2 of the penalised parameters."""

    family: ParametricFamily
    loss: Loss
    queries: QuerySet
    count: float  # of queries or documents, each times its weight
    l2: float = 0.0

    def __call__(self, theta: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient (n_parameters,) at theta (n_parameters,)."""
        with np.errstate(over="ignore", invalid="ignore"):  # the solvers look for such values
            total, by_scores = weighted_sum(self.loss, self.scores(theta), self.queries)
            value, gradient = total / self.count, self._gradient(theta, by_scores)
            if self.l2 != 0.0:
                value += 0.5 * dot(self._penalty, theta * theta)
            return value, gradient

    def rounded_gradient(self, theta: np.ndarray) -> np.ndarray:
        """Return the gradient at theta, wrong by some roundings of its terms.

        Its terms are multiplied by 3 and their sums divided by 3, and a loss's derivative by a
        score is wrong by a share of its size where the score differs by 1: at the optimum it may be
        a difference of equal numbers.
        """
        scores, sign = self.scores(theta), signs(2, self.queries.n_docs)
        with np.errstate(over="ignore", invalid="ignore"):
            _, by_scores = weighted_sum(self.loss, scores, self.queries)
            _, nearby = weighted_sum(self.loss, scores + sign, self.queries)
            tripled = 3.0 * (by_scores + EPSILON * sign * nearby)
            return replace(self, count=3.0 * self.count)._gradient(theta, tripled)

    def _gradient(self, theta: np.ndarray, by_scores: np.ndarray) -> np.ndarray:
        gradient = self.family.gradient(theta, self.queries.features, by_scores) / self.count
        return gradient if self.l2 == 0.0 else gradient + self._penalty * theta

    def scores(self, theta: np.ndarray) -> np.ndarray:
        """Return the scores (n_docs,) of the queries' documents."""
        return self.family.scores(theta, self.queries.features)

    def model(self, theta: np.ndarray) -> Model:
        return self.family.model(theta)

    @cached_property
    def _penalty(self) -> np.ndarray:
        return self.l2 * self.family.penalised()

    def with_prior(self, l2: float, start: np.ndarray) -> "Objective":
        """Return the objective with l2 times the mean curvature of the loss at the start."""
        if l2 == 0.0:
            return self
        return replace(self, l2=l2 * mean_curvature(replace(self, l2=0.0), start))


@dataclass(frozen=True, eq=False)
class Whitened:
    """An objective of u, theta = L'^-1 u, which is curved alike in all directions of u.

    A loss of scores X theta is curved about as X'X, and the prior as l2 c I. With LL' = X'X n /
    trace(X'X) + l2 I the Hessian in u is near a multiple of I, even with nearly collinear features.
    L-BFGS then needs tens of steps instead of hundreds.
    """

    objective: Objective
    L: np.ndarray  # (n, n); n is 0 for a model that is not linear
    scale: float  # of the parameters after the first n, those of products of features

    @staticmethod
    def of(objective: Objective, l2: float) -> "Whitened":
        """Whiten an objective whose prior is l2 in units of c; few rows give X'X well enough."""
        queries = objective.queries
        every = slice(None, None, 1 + queries.n_docs // MOST_ROWS)
        rows = objective.family.design(queries.features[every])
        if queries.weights is not None:
            rows *= np.sqrt(queries.document_weights[every, None])
        moments = gram(rows)
        moments *= len(moments) / (np.trace(moments) or 1.0)
        moments[np.diag_indices_from(moments)] += l2 + FLATTEST
        scale = math.sqrt(1.0 + l2) if len(moments) else 1.0
        return Whitened(objective, cholesky(moments), scale)

    def __call__(self, u: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the objective and its gradient by u."""
        value, gradient = self.objective(self._theta(u))
        return value, self._by_u(gradient)

    def rounded_gradient(self, u: np.ndarray) -> np.ndarray:
        return self._by_u(self.objective.rounded_gradient(self._theta(u)))

    def of_theta(self, theta: np.ndarray) -> np.ndarray:
        n = len(self.L)
        return np.concatenate([products(self.L.T, theta[:n]), theta[n:] * self.scale])

    def model(self, u: np.ndarray) -> Model:
        return self.objective.model(self._theta(u))

    def _by_u(self, gradient: np.ndarray) -> np.ndarray:
        n = len(self.L)
        parts = forward_solve(self.L, gradient[:n]), gradient[n:] / self.scale
        return np.concatenate(parts)

    def _theta(self, u: np.ndarray) -> np.ndarray:
        n = len(self.L)
        return np.concatenate([backward_solve(self.L, u[:n]), u[n:] / self.scale])


def drawn_start(objective: Objective, start: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Draw parameters around a start, so that the scores differ by 1 in root mean square."""
    z = rng.standard_normal(len(start))
    return start + (_unit_step(objective, start, z) or 0.0) * z


def mean_curvature(objective: Objective, start: np.ndarray) -> float:
    """Estimate trace(H) / n of an objective without prior by Hutchinson's z'Hz / n.

    z'Hz is averaged over several sign vectors z. H z is the difference of two gradients, at points
    whose scores differ from those of the start by 1 in root mean square, the scale on which ranking
    losses are curved, and none by more than `FARTHEST`. So it is finite for a loss with kinks. If a
    loss is not convex, abs(z'Hz) counts. The result is 1 if the loss has no curvature.

    M. F. Hutchinson: A Stochastic Estimator of the Trace of the Influence Matrix for Laplacian
    Smoothing Splines, Communications in Statistics 19, 1990.
    """
    penalised = objective.family.penalised()
    rank = ranks(objective, start)
    estimates = []
    for prime in PRIMES:
        z = signs(prime, len(start))[rank] * penalised
        h = _unit_step(objective, start, z, FARTHEST)
        if h is not None:
            change = objective(start + h * z)[1] - objective(start - h * z)[1]
            estimates.append(abs(dot(z, change)) / (2.0 * h))
    curvature = float(np.mean(estimates)) / penalised.sum() if estimates else 0.0
    return curvature if curvature > 0.0 and np.isfinite(curvature) else 1.0


def ranks(objective: Objective, start: np.ndarray) -> np.ndarray:
    """Return each parameter's place, from 0, by its derivative, one gradient step from the start.

    Another order of features and documents gives the same order of parameters. The step separates
    parameters that are alike at the start, such as those of two features that are equally often 1
    among relevant documents. Only parameters of equal features may change places.
    """
    slope = objective(start)[1]
    h = _unit_step(objective, start, -slope)
    if h is not None:
        slope = objective(start - h * slope)[1]
    rank = np.empty(len(start), dtype=np.int64)
    rank[np.argsort(slope, kind="stable")] = np.arange(len(start))
    return rank


def _unit_step(
    objective: Objective, start: np.ndarray, along: np.ndarray, farthest: float = math.inf
) -> float | None:
    """Return the h for which start + h along changes scores by 1 in root mean square, or None.

    h is smaller where a score would change by more than `farthest`.
    """
    # extrapolated from h = 1, as if scores were linear
    change = objective.scores(start + along) - objective.scores(start)
    queries = objective.queries
    weights = None if queries.weights is None else queries.document_weights
    moved = float(np.sqrt(np.average(change**2, weights=weights)))
    moved = max(moved, float(np.abs(change).max()) / farthest)
    return 1.0 / moved if moved > 0.0 and np.isfinite(moved) else None


def signs(prime: int, n: int) -> np.ndarray:
    """Return n signs as evenly spread as random ones, those of k^2 sqrt(prime), without drawing."""
    # two signs at any distance agree as often as not, so neighbouring ranks count like any others
    k = np.arange(1, n + 1, dtype=np.float64)
    return np.where(k * k * np.sqrt(prime) % 1.0 < 0.5, 1.0, -1.0)
