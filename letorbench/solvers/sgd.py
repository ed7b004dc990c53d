"""Stochastic gradient descent on a net, one step per query, with LambdaRank's schedule.

A step computes the query's scores s and the force lambda_i on each document, and moves the net's
parameters theta along sum_i lambda_i ds_i/dtheta (Burges, Ragno, Le, NIPS 2006, equations 6 and 7).
Steps are taken as if features were scaled; the net itself has weights for unscaled features.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.datasets.queryset import LabelBlocks, QuerySet
from letorbench.features.columns import mean_and_variance
from letorbench.models.base import Model
from letorbench.models.linear import Linear, products
from letorbench.models.mlp import MLP, Layers
from letorbench.parameters import number, one_of
from letorbench.solvers.fit_result import Epoch, FitResult, kept_epoch
from letorbench.solvers.stopping import NEVER, Deadline, EarlyStopping, Validation

#: factor of the learning rate after an epoch whose cost is higher than the one before
SHRINK = 0.8
#: epochs without a new lowest cost after which new random weights are drawn
RESTART = 50


class FeatureScale(NamedTuple):
    """The scale of a step: a feature x counts as (x - center) sqrt(inverse_variance)."""

    center: np.ndarray  # (n_features,) float64
    inverse_variance: np.ndarray  # (n_features,); 0 for a constant feature, whose weight stays 0


class NetState(NamedTuple):
    """The parameters of a net in training; an epoch changes the arrays in place."""

    weights: np.ndarray  # (n_units, n_features) float64
    bias: np.ndarray  # (n_units,)
    output: np.ndarray  # (n_units,), or empty as in `Layers`
    weights_f32: np.ndarray  # a copy of the weights, which scores are computed with

    @staticmethod
    def draw(
        units: int, with_output: bool, scale: FeatureScale, rng: np.random.Generator
    ) -> NetState:
        """Draw weights uniformly within 1 / sqrt(inputs) for scaled features, with zero bias."""
        n_features = len(scale.center)
        weights = rng.uniform(-1.0, 1.0, (units, n_features))
        weights = weights * np.sqrt(scale.inverse_variance / n_features)
        output = rng.uniform(-1.0, 1.0, units if with_output else 0) / np.sqrt(units)
        bias = -products(weights, scale.center)
        return NetState(weights, bias, output, weights.astype(np.float32))

    def model(self) -> Model:
        if len(self.output) == 0:
            return Linear(self.weights[0].copy(), float(self.bias[0]))
        return MLP(self.weights_f32.copy(), self.bias.copy(), self.output.copy())


class TrainingQueries(NamedTuple):
    """The part of the training set that an epoch reads."""

    features: np.ndarray  # (n_docs, n_features) float32
    blocks: LabelBlocks
    weights: np.ndarray  # (n_queries,), factors of a query's cost and step

    @staticmethod
    def of(queries: QuerySet) -> TrainingQueries:
        return TrainingQueries(queries.features, queries.by_label, queries.query_weights)


@dataclass
class NetDescent:
    """A net and how it is trained, one step per query (Burges, Ragno, Le, NIPS 2006, section 6.3).

    Parameters
    ----------
    layers : int
        1 for a linear score; 2 for one hidden layer of tanh units and a linear output.
    hidden : int
        The number of hidden units of two layers. The paper uses 10.
    learning_rate : float
        The rate of the first epoch. It is multiplied by 0.8 after every epoch whose cost is
        higher than the one before.
    epochs : int
        The number of epochs, the paper's 300. Validation chooses the one kept.
    patience : int
        Training ends this many epochs after the best one on validation; 0 means never.
    standardise : bool
        Step as if features had mean 0 and variance 1, instead of a largest absolute value of 1.

    Notes
    -----
    New random weights are drawn if the cost has not fallen for 50 epochs. Where the papers are
    silent: the first weights are uniform within 1/sqrt(inputs); the queries have a new random
    order in each epoch; an epoch's cost is summed during the epoch; the steps of a feature are
    scaled by its largest absolute value.
    """

    figure = "nets"
    one_thread = True  # each step depends on the one before
    draws = True  # the first weights, and the order of the queries in each epoch

    layers: int = one_of((1, 2), 2)
    hidden: int = number(10, least=1)
    learning_rate: float = number(1e-3, above=0)
    epochs: int = number(300, least=1)
    patience: int = number(30, least=0)
    standardise: bool = False

    def descend(
        self,
        steps: Steps,
        train: QuerySet,
        validation: Validation | None,
        rng: np.random.Generator,
        deadline: Deadline = NEVER,
    ) -> FitResult:
        """Return the net of the epoch that validation chooses; without validation, of the last."""
        scale, units = feature_scale(train, self.standardise), self.hidden
        draw = partial(NetState.draw, units if self.layers == 2 else 1, self.layers == 2, scale)
        first = draw(rng)
        start = first.model()  # the epochs change the arrays of the first state
        epochs = self._epochs(steps, train, first, draw, scale, rng)
        stopping = EarlyStopping(self.patience, deadline, validation)
        return kept_epoch(epochs, start, self.epochs, stopping)

    def _epochs(
        self,
        steps: Steps,
        train: QuerySet,
        state: NetState,
        draw: Callable[[np.random.Generator], NetState],
        scale: FeatureScale,
        rng: np.random.Generator,
    ) -> Iterator[Epoch]:
        data = TrainingQueries.of(train)
        # a query of one label has no pair: no force, and a cost that never changes
        trained = np.flatnonzero((np.diff(data.blocks.queries) > 1) & (data.weights > 0.0))
        rate, costs = self.learning_rate, [np.inf]
        while True:
            order, passes = rng.permutation(trained), Passes.of(data, state)
            cost = steps(data, order, state, scale, rate, passes)
            finite = np.isfinite(cost + state.output.sum() + state.bias.sum())
            yield (cost, state.model()) if finite else (None, None)
            if cost > costs[-1]:
                rate *= SHRINK
            costs.append(cost)
            if len(costs) - 1 - costs.index(min(costs)) == RESTART:
                state, rate, costs = draw(rng), self.learning_rate, [np.inf]


def feature_scale(queries: QuerySet, standardise: bool) -> FeatureScale:
    """Return the mean and 1 / variance of each feature, or 0 and 1 / (largest absolute value)^2."""
    mean, variance = mean_and_variance(queries.features)
    varies = variance > 1e-12 * np.maximum(mean**2, 1e-12)
    if not standardise:
        mean = np.zeros_like(mean)
        low, high = queries.features.min(axis=0), queries.features.max(axis=0)
        variance = np.maximum(-low, high).astype(np.float64) ** 2
    inverse = np.divide(1.0, variance, out=np.zeros_like(variance), where=varies)
    return FeatureScale(mean, inverse)


class Passes(NamedTuple):
    """The working memory of passes through a net."""

    net: Layers
    hidden: np.ndarray  # as in `forward`
    change: Layers  # as in `backward`
    # scores and force: (n,), n = max(2, documents of the longest query)
    scores: np.ndarray
    force: np.ndarray

    @staticmethod
    def of(data: TrainingQueries, state: NetState) -> Passes:
        net = Layers(state.weights_f32, state.bias, state.output)
        longest = max(2, np.diff(data.blocks.offsets).max())
        hidden = np.empty((len(net.bias), longest), net.weights.dtype)
        change = Layers(*(np.zeros_like(part) for part in net))
        return Passes(net, hidden, change, np.empty(longest), np.empty(longest))


#: take a step for each query of a sequence; return the sum of their costs before each step
Steps = Callable[[TrainingQueries, np.ndarray, NetState, FeatureScale, float, Passes], float]


@kernel()
def query_features(data: TrainingQueries, q: int) -> np.ndarray:
    return data.features[data.blocks.offsets[q] : data.blocks.offsets[q + 1]]


@kernel(reorder=True)
def take_step(rate: float, scale: FeatureScale, change: Layers, state: NetState) -> None:
    """Move the parameters along `change` as if the features were scaled; set `change` to zero.

    The scaled feature z = (x - center) inverse_variance^1/2 has the weight w / inverse_variance^1/2
    and the bias b + w . center.
    """
    center, inverse_variance = scale
    weights, bias, output, weights_f32 = state
    for h in range(len(bias)):
        moved = 0.0
        for k in range(len(center)):
            along = inverse_variance[k] * (change.weights[h, k] - center[k] * change.bias[h])
            weights[h, k] += rate * along
            weights_f32[h, k] = weights[h, k]
            change.weights[h, k] = 0.0
            moved += center[k] * along
        bias[h] += rate * (change.bias[h] - moved)
        change.bias[h] = 0.0
    for h in range(len(output)):
        output[h] += rate * change.output[h]
        change.output[h] = 0.0
