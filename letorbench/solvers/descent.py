"""Solvers that fit any parametric family to any differentiable loss.

`GradientDescent` has a fixed learning rate and keeps the epoch that validation chooses.
`LineSearch` finds the length of each step and needs no tuning. `LBFGS` needs the fewest steps.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import count
from typing import ClassVar, NamedTuple

import numpy as np

from letorbench.compiled.arithmetic import add, dot, norm
from letorbench.compiled.jit import kernel
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.base import Loss
from letorbench.models.base import ParametricFamily
from letorbench.solvers.fit_result import Epoch, FitResult, kept_epoch
from letorbench.solvers.fit_warnings import FitWarning
from letorbench.solvers.objective import Objective, Whitened, drawn_start
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation

#: a step must lower the objective by this share of what the gradient promises (Armijo's rule)
ARMIJO = 1e-4
#: factors of a step's length after a success and after a failure
LONGER, SHORTER = 2.0, 0.5
#: the most halvings of a step along the gradient
MOST_HALVINGS = 60
#: a step of L-BFGS lowers the slope along it to this share (the strong Wolfe conditions)
CURVATURE = 0.9
#: the most lengths that L-BFGS tries for a step, and their least relative distance from an end
MOST_TRIALS, NEAR = 40, 0.1
#: how many past steps L-BFGS keeps
MEMORY = 20
#: converged: the gradient's norm is below this fraction of its norm at the start, or after step
#: one, since the cosine's first gradient can be arbitrarily large
TOLERANCE = 1e-6
#: or below this many times what rounding changes of it
ROUNDINGS = 100.0


class Solver(ABC):
    """A way to minimise the mean over queries of the loss + l2 c/2 |theta|^2."""

    l2: float  # strength of the prior, in units of c, the mean curvature of the loss at the start
    per_document: bool = False  # the mean loss is over documents instead of queries
    # the lowest minimum wins; the first start is the family's, further ones are drawn near it
    starts: int = 1
    patience: int = 0  # epochs after the best one on validation that end the training; 0: never

    def fit(
        self,
        family: ParametricFamily,
        loss: Loss,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        """Return the family's model that fits the training set, as far as time allows."""
        first = family.start(rng)
        count = (train.document_weights if self.per_document else train.query_weights).sum()
        objective = Objective(family, loss, train, float(count)).with_prior(self.l2, first)
        more = (drawn_start(objective, first, rng) for _ in range(self.starts - 1))
        fits = [
            self.minimise(objective, each, EarlyStopping(self.patience, deadline, validation))
            for each in (first, *more)
        ]
        lowest = min(fits, key=lambda fit: fit.objective[-1]) if self.starts > 1 else fits[0]
        return replace(lowest, cut_off=any(fit.cut_off for fit in fits))

    @abstractmethod
    def minimise(
        self, objective: Objective, theta: np.ndarray, stopping: EarlyStopping
    ) -> FitResult:
        """Return the model at the minimum of the objective; its history begins at theta."""


@dataclass(frozen=True)
class GradientDescent(Solver):
    """theta <- theta - learning_rate x gradient, once an epoch on the whole training set."""

    learning_rate: float
    epochs: int
    patience: int
    l2: float = 0.0
    by_query: bool = False  # instead, one step per query, in file order, by its gradient

    def minimise(
        self, objective: Objective, theta: np.ndarray, stopping: EarlyStopping
    ) -> FitResult:
        epochs = self._epochs(objective, theta)
        return kept_epoch(epochs, objective.model(theta), self.epochs, stopping)

    def _epochs(self, objective: Objective, theta: np.ndarray) -> Iterator[Epoch]:
        train, parts = objective.queries, [objective]
        if self.by_query:
            each = (train.queries(q, q + 1) for q in range(train.n_queries))
            alone = [replace(objective, queries=part, count=1, l2=0.0) for part in each]
            parts = [part.with_prior(self.l2, theta) for part in alone]
        while True:
            total = 0.0
            for part in parts:
                value, gradient = part(theta)
                total += value
                theta = theta - self.learning_rate * gradient
            finite = np.isfinite(theta).all()
            cost = total / (objective.count if self.by_query else 1.0)
            yield cost, objective.model(theta) if finite else None


@dataclass(frozen=True)
class _Minimiser(Solver):
    """Line searches until the gradient is small (`TOLERANCE`), without a validation set."""

    whitens: ClassVar[bool] = False

    iterations: int  # the most steps; a warning reports if they were not enough
    l2: float = 0.0
    per_document: bool = False
    starts: int = 1

    @abstractmethod
    def steps(self, objective: Objective | Whitened, start: "Point") -> Iterator["Point"]:
        """Yield the points after each step, as long as a step lowers the objective."""

    def minimise(
        self, objective: Objective, theta: np.ndarray, stopping: EarlyStopping
    ) -> FitResult:
        function: Objective | Whitened = objective
        if self.whitens and objective.loss.one_minimum:
            function = Whitened.of(objective, self.l2)
            theta = function.of_theta(theta)
        point = Point(theta, *function(theta))
        history, steepness = [point.value], norm(point.gradient)
        first, late = steepness, False
        least = _rounding(function, point)
        enough = max(TOLERANCE * first, least)
        steps = self.steps(function, point)
        while not steepness <= enough and len(history) <= self.iterations:
            late = len(history) > 1 and stopping.deadline.passed
            further = None if late else next(steps, None)
            if further is None:
                break
            point, steepness = further, norm(further.gradient)
            history.append(point.value)
            if len(history) == 2 and steepness > enough:
                enough = max(min(enough, TOLERANCE * steepness), least)
        warnings: tuple[FitWarning, ...] = ()
        arrived = steepness <= max(TOLERANCE * first, least)
        if not (arrived or steepness <= _rounding(function, point)):
            text = (
                f"the descent ended after {len(history) - 1} iterations with a gradient "
                f"{steepness / first:.1e} times as long as at the start, not {TOLERANCE:.0e}"
            )
            warnings = (FitWarning("cut off" if late else "not converged", text),)
        model, values = function.model(point.theta), tuple(history)
        return FitResult(model, objective=values, warnings=warnings, cut_off=late)


class Point(NamedTuple):
    """An objective at theta (n_parameters,): its value and its gradient (n_parameters,)."""

    theta: np.ndarray
    value: float
    gradient: np.ndarray


def _rounding(objective: Objective | Whitened, point: Point) -> float:
    """Return the norm below which a gradient at the point is no more than rounding."""
    return ROUNDINGS * norm(objective.rounded_gradient(point.theta) - point.gradient)


class LineSearch(_Minimiser):
    """Gradient descent whose objective never rises.

    A step is tried at twice the length of the last one and halved until Armijo's rule holds
    (J. Nocedal, S. Wright, "Numerical Optimization", algorithm 3.1).
    """

    def steps(self, objective: Objective | Whitened, start: Point) -> Iterator[Point]:
        point, length = start, 1.0 / norm(start.gradient)
        while True:
            length *= LONGER
            enough = ARMIJO * dot(point.gradient, point.gradient)
            for _ in range(MOST_HALVINGS):
                theta = point.theta - length * point.gradient
                trial = Point(theta, *objective(theta))
                if trial.value <= point.value - length * enough:
                    break
                length *= SHORTER
            else:
                return
            yield (point := trial)


class LBFGS(_Minimiser):
    """L-BFGS by the strong Wolfe conditions (J. Nocedal, S. Wright, "Numerical Optimization", 7.5).

    Parameters and gradient are `Whitened` only for a loss with one minimum. With several minima,
    descent in the plain parameters reaches one with small weights of rare directions.
    """

    whitens = True

    def steps(self, objective: Objective | Whitened, start: Point) -> Iterator[Point]:
        s, y = np.zeros((2, MEMORY, len(start.theta)))
        point, length = start, 1.0 / norm(start.gradient)
        for k in count():
            direction = two_loop(point.gradient, s, y, k)
            further = wolfe_step(objective, point, direction, length)
            if further is None:
                return
            s[k % MEMORY] = further.theta - point.theta
            y[k % MEMORY] = further.gradient - point.gradient
            point, length = further, 1.0
            yield point


@kernel()
def two_loop(gradient: np.ndarray, s: np.ndarray, y: np.ndarray, k: int) -> np.ndarray:
    """Return the direction of step k, -H_k gradient (Nocedal, Wright, algorithm 7.4).

    Row i % MEMORY of s and y (MEMORY, n_parameters) holds step i and its change of the gradient.
    """
    memory, q = len(s), -gradient
    first = max(0, k - memory)
    alpha = np.empty(memory)
    for i in range(k - 1, first - 1, -1):
        r = i % memory
        alpha[r] = dot(s[r], q) / dot(s[r], y[r])
        add(-alpha[r], y[r], q)
    # H_k^0 is the identity times s.y / y.y of the last step (equation 7.20)
    if k > 0:
        r = (k - 1) % memory
        q *= dot(s[r], y[r]) / dot(y[r], y[r])
    for i in range(first, k):
        r = i % memory
        add(alpha[r] - dot(y[r], q) / dot(s[r], y[r]), s[r], q)
    return q


def wolfe_step(
    objective: Objective | Whitened, start: Point, direction: np.ndarray, length: float
) -> Point | None:
    """Return a point along the direction that meets the strong Wolfe conditions; `length` is first.

    Algorithms 3.5 (find an interval that holds such points) and 3.6 ("zoom": narrow it) of Nocedal,
    Wright. After `MOST_TRIALS` the lowest point counts; None if rounding hides every descent.
    """
    slope = dot(start.gradient, direction)
    low, low_length, low_slope = start, 0.0, slope
    high: tuple[float, float, float] | None = None  # length, value, slope
    for _ in range(MOST_TRIALS):
        theta = start.theta + length * direction
        trial = Point(theta, *objective(theta))
        along = dot(trial.gradient, direction)
        promised = start.value + ARMIJO * length * slope
        if not trial.value <= promised or (low is not start and trial.value >= low.value):
            high = length, trial.value, along
        else:
            if abs(along) <= -CURVATURE * slope:
                return trial
            if along * (1.0 if high is None else high[0] - low_length) >= 0.0:
                high = low_length, low.value, low_slope
            low, low_length, low_slope = trial, length, along
        if high is None:
            length *= LONGER
        elif high[0] == low_length:
            break
        else:
            length = between((low_length, low.value, low_slope), high)
    return None if low is start else low


def between(a: tuple[float, float, float], b: tuple[float, float, float]) -> float:
    """Return the minimum of the cubic through two (length, value, slope); equation 3.59."""
    (x, f, slope), (x1, f1, slope1) = a, b
    d1 = slope + slope1 - 3.0 * (f - f1) / (x - x1)
    inside = d1 * d1 - slope * slope1
    d2 = math.copysign(math.sqrt(inside), x1 - x) if inside >= 0.0 else math.nan
    least = x1 - (x1 - x) * (slope1 + d2 - d1) / (slope1 - slope + 2.0 * d2)
    apart = abs(least - x) / abs(x1 - x)
    same_side = (least - x) * (x1 - x) > 0.0
    # the middle if the minimum is too near to an end
    return least if same_side and NEAR <= apart <= 1.0 - NEAR else (x + x1) / 2.0
