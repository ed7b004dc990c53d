"""Stochastic gradient descent on a net, one step a query, with LambdaRank's schedule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels.per_query import epoch
from letorbench.losses.lambdas import (
    Lambda,
    block_gains,
    inverse_ideal,
    truncated_discount,
)
from letorbench.models import Linear, Model, Net
from letorbench.solvers.learned import Learned
from letorbench.solvers.validation import Validation

#: the cost of the paper's LambdaRank is the training NDCG at this truncation
COST_AT = 10


@dataclass(frozen=True)
class Schedule:
    """How long and how fast (Burges, Ragno, Le, NIPS 2006, section 6.3).

    learning_rate: multiplied by `shrink` whenever an epoch's cost exceeds the one's before.
    epochs:        of all starts together.
    restart:       epochs without a fall of the cost after which new random weights are drawn.
    patience:      epochs without a better validation measure after which training ends; 0: never.
    standardise:   step as if each feature had mean 0 and variance 1; otherwise as if its
                   largest size were 1, which it is in LETOR's query-normalised features.
    pairwise:      RankNet pair by pair, V1.
    """

    learning_rate: float
    epochs: int = 300
    patience: int = 0
    shrink: float = 0.8
    restart: int = 50
    standardise: bool = False
    pairwise: bool = False


@dataclass(frozen=True, eq=False)
class Weights:
    """The numbers that an epoch changes in place; no hidden layer where output is empty."""

    weights: np.ndarray
    bias: np.ndarray
    output: np.ndarray
    fast: np.ndarray

    @staticmethod
    def draw(
        layers: int, hidden: int, center: np.ndarray, stretch: np.ndarray, rng: np.random.Generator
    ) -> Weights:
        """Uniform in +-1/sqrt(inputs) of the features' standardised form, zero bias there."""
        units = hidden if layers == 2 else 1
        n_features = len(center)
        weights = rng.uniform(-1.0, 1.0, (units, n_features)) * np.sqrt(stretch / n_features)
        output = rng.uniform(-1.0, 1.0, units if layers == 2 else 0) / np.sqrt(units)
        return Weights(weights, -weights @ center, output, weights.astype(np.float32))

    def model(self) -> Model:
        if len(self.output) == 0:
            return Linear(self.weights[0].copy(), float(self.bias[0]))
        return Net(self.fast.copy(), self.bias.copy(), self.output.copy())


def descend_per_query(
    function: Lambda,
    layers: int,
    hidden: int,
    schedule: Schedule,
    queries: QuerySet,
    validation: Validation | None,
    rng: np.random.Generator,
) -> Learned:
    """Run the schedule; keep the epoch that validation likes best, or else the last.

    The cost of an epoch is summed over the queries as they pass, each before its step, so
    it needs no second pass: RankNet's cost, or 1 - NDCG@10. The order of the queries is
    drawn anew for each epoch. Results do not depend on the number of threads: there is one.
    """
    _check(layers, hidden, schedule)
    center, stretch = _moments(queries, schedule.standardise)
    run = _epochs(function, schedule, queries, center, stretch)
    state = Weights.draw(layers, hidden, center, stretch, rng)
    rate, previous, lowest, since_fall = schedule.learning_rate, np.inf, np.inf, 0
    curve: list[float] = []
    costs: list[float] = []
    best, kept = 0, state.model()
    warnings: tuple[str, ...] = ()
    for number in range(1, schedule.epochs + 1):
        cost = run(state, rate, rng)
        if not np.isfinite(cost + state.output.sum() + state.bias.sum()):
            warnings = (f"epoch {number} gave no number: the learning rate is too large",)
            break
        costs.append(cost)
        if validation is None:
            best, kept = number, state.model()
        else:
            scorer = state.model()
            curve.append(validation(scorer.predict(validation.queries.features)))
            if len(curve) == 1 or curve[-1] > curve[best - 1]:
                best, kept = number, scorer
            if schedule.patience and number - best >= schedule.patience:
                break
        rate *= schedule.shrink if cost > previous else 1.0
        since_fall = 0 if cost < lowest else since_fall + 1
        previous, lowest = cost, min(lowest, cost)
        if since_fall == schedule.restart:
            state = Weights.draw(layers, hidden, center, stretch, rng)
            rate, previous, lowest, since_fall = schedule.learning_rate, np.inf, np.inf, 0
    return Learned(kept, tuple(curve), best, tuple(costs), warnings)


def _check(layers: int, hidden: int, schedule: Schedule) -> None:
    if layers not in (1, 2):
        raise UsageError(f"found layers={layers}, expected 1 or 2")
    if hidden < 1 or schedule.epochs < 1:
        raise UsageError(
            f"found hidden={hidden}, epochs={schedule.epochs}, expected 1 or more of each"
        )
    if not schedule.learning_rate > 0.0:
        raise UsageError(f"found learning_rate={schedule.learning_rate}, expected more than 0")


def _moments(queries: QuerySet, standardise: bool) -> tuple[np.ndarray, np.ndarray]:
    """(n_features,) what steps subtract from and multiply with, squared; 0 for a constant."""
    mean = queries.features.mean(axis=0, dtype=np.float64)
    variance = queries.features.var(axis=0, dtype=np.float64)
    varies = variance > 1e-12 * np.maximum(mean**2, 1e-12)
    if not standardise:
        mean = np.zeros_like(mean)
        low, high = queries.features.min(axis=0), queries.features.max(axis=0)
        variance = np.maximum(-low, high).astype(np.float64) ** 2
    return mean, np.divide(1.0, variance, out=np.zeros_like(variance), where=varies)


def _epochs(
    function: Lambda,
    schedule: Schedule,
    queries: QuerySet,
    center: np.ndarray,
    stretch: np.ndarray,
):
    """The function (weights, rate, rng) -> cost that runs one epoch on the training set."""
    blocks, gains = queries.by_label, block_gains(queries)
    scale, discount = function.scale(queries), function.discount(queries)
    cost_discount = truncated_discount(queries, COST_AT)
    cost_scale = inverse_ideal(queries, cost_discount)
    # a query of one label has no pair: no force, and a cost that never changes
    paired = np.flatnonzero(np.diff(blocks.queries) > 1)

    def run(state: Weights, rate: float, rng: np.random.Generator) -> float:
        return epoch(
            queries.features, queries.offsets, blocks.order, blocks.starts, blocks.queries,
            gains, scale, discount, cost_scale, cost_discount, rng.permutation(paired),
            function.kind, function.neighbours, function.margin, schedule.pairwise, rate,
            center, stretch, state.weights, state.bias, state.output, state.fast,
        )  # fmt: skip

    return run
