"""A neural net with one hidden layer, s(x) = v . tanh(W x + b), and its backpropagation.

`net_scores` and `net_gradient` are the equations in plain NumPy. The compiled kernels `forward` and
`backward` compute the same for the documents of one query at a time.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from letorbench.compiled.arithmetic import tanh
from letorbench.compiled.jit import kernel
from letorbench.compiled.threads import run_tasks
from letorbench.datasets.queryset import QuerySet
from letorbench.features.columns import mean_and_scale, row_blocks
from letorbench.models.base import FamilySettings, Model, ParametricFamily, array
from letorbench.models.linear import products

#: the number of documents whose hidden units are in memory together
ROWS = 1000


class Layers(NamedTuple):
    """The parameters of a net, or one number for each of them, such as a gradient.

    Without an output v the net has no hidden layer: s(x) = W x + b, one unit.
    """

    weights: np.ndarray  # W (n_units, n_features), float32 or float64, the type of the sums
    bias: np.ndarray  # b (n_units,) float64
    output: np.ndarray  # v (n_units,) float64


@dataclass(frozen=True, eq=False)
class MLP(Model):
    """A net with one hidden layer of tanh units and a linear output, see `Layers`."""

    kind = "net"

    weights: np.ndarray = array("n_units", "n_features", dtype=np.float32)
    bias: np.ndarray = array("n_units")
    output: np.ndarray = array("n_units")

    docs_a_thread = ROWS

    def _score(self, features: np.ndarray) -> np.ndarray:
        scores, hidden = np.empty(len(features)), np.empty((len(self.bias), ROWS), np.float32)
        layers = Layers(self.weights, self.bias, self.output)
        for rows in row_blocks(len(features), ROWS):
            forward(features[rows], layers, hidden, scores[rows])
        return scores


@dataclass(frozen=True, eq=False)
class MLPFamily(ParametricFamily):
    """The nets of `hidden` units, of the standardised features (x - mean) / scale.

    theta holds W (hidden, n_features) row by row, b (hidden,) and v (hidden,). The prior does not
    penalise b. Solvers compute in float64; the final model keeps W in float32.
    """

    name = "mlp"
    formula = "s = v . tanh(W x + b)"
    drawn = True

    mean: np.ndarray
    scale: np.ndarray
    hidden: int

    @classmethod
    def of(cls, train: QuerySet, settings: FamilySettings) -> Self:
        return cls(*mean_and_scale(train.features), settings.hidden)

    @property
    def n_parameters(self) -> int:
        return self.hidden * (len(self.mean) + 2)

    def start(self, rng: np.random.Generator) -> np.ndarray:
        """Draw W and v uniformly within 1 / sqrt(inputs): at zero, W has no gradient."""
        n_features = len(self.mean)
        W = rng.uniform(-1.0, 1.0, self.hidden * n_features) / np.sqrt(n_features)
        v = rng.uniform(-1.0, 1.0, self.hidden) / np.sqrt(self.hidden)
        return np.concatenate([W, np.zeros(self.hidden), v])

    def penalised(self) -> np.ndarray:
        penalised = np.ones(self.n_parameters)
        penalised[-2 * self.hidden : -self.hidden] = 0.0
        return penalised

    def model(self, theta: np.ndarray) -> MLP:
        layers = self._layers(theta)
        return MLP(layers.weights.astype(np.float32), layers.bias, layers.output)

    def scores(self, theta: np.ndarray, features: np.ndarray) -> np.ndarray:
        layers = self._layers(theta)

        def part(rows: slice) -> np.ndarray:
            return (layers.output[:, None] * _units(features[rows], layers)).sum(axis=0)

        blocks = row_blocks(len(features), ROWS)
        return np.concatenate([np.zeros(0), *run_tasks([partial(part, rows) for rows in blocks])])

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        layers = self._layers(theta)

        def part(rows: slice) -> Layers:
            change = Layers(*map(np.zeros_like, layers))
            x = features[rows]
            backward(x, layers, _units(x, layers), score_gradient[rows], change)
            return change

        parts = run_tasks([partial(part, rows) for rows in row_blocks(len(features), ROWS)])
        total = Layers(*map(np.zeros_like, layers))
        for each in parts:
            for sums, more in zip(total, each, strict=True):
                sums += more
        W = (total.weights - np.outer(total.bias, self.mean)) / self.scale
        return np.concatenate([W.ravel(), total.bias, total.output])

    def _layers(self, theta: np.ndarray) -> Layers:
        """Return the net at theta for unscaled features."""
        W, b, v = np.split(theta, [-2 * self.hidden, -self.hidden])
        weights = W.reshape(self.hidden, len(self.mean)) / self.scale
        return Layers(weights, b - products(weights, self.mean), v)


def net_scores(features: np.ndarray, layers: Layers) -> np.ndarray:
    """Return s(x) = v . tanh(W x + b) of every document, (n_docs,) float64."""
    hidden = features.astype(np.float64) @ layers.weights.T + layers.bias
    return np.tanh(hidden) @ layers.output if len(layers.output) else hidden[:, 0]


def net_gradient(features: np.ndarray, layers: Layers, gradient: np.ndarray) -> Layers:
    """Backpropagate: return a loss's derivative by the layers, given that by the scores."""
    x = features.astype(np.float64)
    if len(layers.output) == 0:
        return Layers((gradient @ x)[None], np.array([gradient.sum()]), np.zeros(0))
    t = np.tanh(x @ layers.weights.T + layers.bias)
    delta = gradient[:, None] * layers.output * (1.0 - t**2)
    return Layers(delta.T @ x, delta.sum(axis=0), gradient @ t)


def _units(features: np.ndarray, layers: Layers) -> np.ndarray:
    """Return tanh(W x + b) of every document in float64, (n_units, n_docs), summed in one order."""
    hidden = np.empty((len(layers.bias), len(features)))
    _project(features, layers.weights, hidden)
    return tanh(hidden + layers.bias[:, None])


@kernel()
def forward(features: np.ndarray, layers: Layers, hidden: np.ndarray, scores: np.ndarray) -> None:
    """Fill scores with s(x), summed in one order, and hidden (n_units, >= n_docs)."""
    n_docs = len(features)
    _project(features, layers.weights, hidden)
    if len(layers.output) == 0:
        for i in range(n_docs):
            scores[i] = layers.bias[0] + hidden[0, i]
        return
    scores[:n_docs] = 0.0
    for h in range(len(layers.output)):
        unit = hidden[h, :n_docs]
        _tanh(layers.bias[h], unit)
        for i in range(n_docs):
            scores[i] += layers.output[h] * unit[i]


@kernel(reorder=True)
def _project(features: np.ndarray, weights: np.ndarray, hidden: np.ndarray) -> None:
    """hidden[h, i] = features[i] . weights[h], four documents at a time, all in the same order."""
    last, zero = len(features) - 1, weights.dtype.type(0)
    for i in range(0, last + 1, 4):
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        x0, x1, x2, x3 = features[i], features[i1], features[i2], features[i3]
        for h in range(len(weights)):
            w, s0, s1, s2, s3 = weights[h], zero, zero, zero, zero
            for k in range(len(w)):
                s0 += x0[k] * w[k]
                s1 += x1[k] * w[k]
                s2 += x2[k] * w[k]
                s3 += x3[k] * w[k]
            hidden[h, i], hidden[h, i1], hidden[h, i2], hidden[h, i3] = s0, s1, s2, s3


@kernel()
def _tanh(bias: float, x: np.ndarray) -> None:
    """Replace each x by tanh(bias + x) in float32; this loop vectorises."""
    # tanh(y / 64) is p / q, y times a ratio of two polynomials; six times from there, tanh(2y) =
    # 2 tanh(y) / (1 + tanh(y)^2) is 2pq / (q^2 + p^2). With NumPy's tanh an epoch of RankNet takes
    # twice as long, with 1 - 2 / (e^2y + 1) a tenth longer.
    b, edge = np.float32(bias), np.float32(9.0)  # from 9 on tanh is 1
    for i in range(len(x)):
        y = min(max(b + x[i], -edge), edge) * np.float32(1.0 / 64.0)  # NaN stays NaN
        z = y * y
        p = y * (np.float32(1.0) + z * np.float32(1.0 / 15.0))
        q = np.float32(1.0) + z * np.float32(0.4)
        for _ in range(6):
            p, q = np.float32(2.0) * p * q, q * q + p * p
        x[i] = p / q


@kernel(reorder=True)
def backward(
    features: np.ndarray, layers: Layers, hidden: np.ndarray, gradient: np.ndarray, change: Layers
) -> None:
    """Add what `net_gradient` computes to `change`, after `forward`; this overwrites `hidden`."""
    n_docs = len(features)
    if len(layers.output) == 0:
        for i in range(n_docs):
            hidden[0, i] = gradient[i]
        change.bias[0] += gradient[:n_docs].sum()
    for h in range(len(layers.output)):
        t, v = hidden[h], layers.output[h]
        by_output = by_bias = 0.0
        for i in range(n_docs):
            slope = gradient[i] * v * (1.0 - t[i] * t[i])
            by_output += gradient[i] * t[i]
            by_bias += slope
            t[i] = slope
        change.output[h] += by_output
        change.bias[h] += by_bias
    _add_rows(features, hidden, change.weights)


@kernel(reorder=True)
def _add_rows(features: np.ndarray, weights: np.ndarray, totals: np.ndarray) -> None:
    """totals[h] += weights[h] @ features, four documents at a time: they stay in the cache."""
    last, zero = len(features) - 1, weights.dtype.type(0)
    for i in range(0, last + 1, 4):
        i1, i2, i3 = min(i + 1, last), min(i + 2, last), min(i + 3, last)
        x0, x1, x2, x3 = features[i], features[i1], features[i2], features[i3]
        for h in range(len(totals)):
            w, total = weights[h], totals[h]
            w0, w1 = w[i], w[i1] if i1 > i else zero
            w2, w3 = w[i2] if i2 > i1 else zero, w[i3] if i3 > i2 else zero
            for k in range(len(total)):
                total[k] += (w0 * x0[k] + w1 * x1[k]) + (w2 * x2[k] + w3 * x3[k])
