"""A neural net with one hidden layer, s(x) = v . tanh(W x + b), and its backpropagation.

The equations are `net_scores` and `net_gradient`, in plain NumPy. The compiled kernels `forward`
and `backward` compute the same for the documents of one query at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.features.moments import mean_and_scale
from letorbench.jit import kernel
from letorbench.models.base import Model, array
from letorbench.models.linear import products
from letorbench.models.parametric import FamilySettings, ParametricFamily
from letorbench.threads import parallel_for

#: documents whose hidden units are in memory at a time
ROWS = 1000

#: where |x| is larger than this, tanh(x) is 1 to the last bit of a float64
FLAT = 20.0


class Layers(NamedTuple):
    """The parameters of a net, or one number for each of them, such as a gradient.

    Attributes
    ----------
    weights : ndarray of shape (n_units, n_features), float32 or float64
        W. Sums over the features are computed in its type.
    bias : ndarray of shape (n_units,), float64
        b.
    output : ndarray of shape (n_units,) or (0,), float64
        v. An empty array stands for a net without a hidden layer: s(x) = W x + b, one unit.
    """

    weights: np.ndarray
    bias: np.ndarray
    output: np.ndarray


@dataclass(frozen=True, eq=False)
class MLP(Model):
    """A net with one hidden layer of tanh units and a linear output.

    Parameters
    ----------
    weights : ndarray of shape (n_units, n_features), float32
        W.
    bias : ndarray of shape (n_units,), float64
        b.
    output : ndarray of shape (n_units,), float64
        v.
    """

    kind = "net"

    weights: np.ndarray = array("n_units", "n_features", dtype=np.float32)
    bias: np.ndarray = array("n_units")
    output: np.ndarray = array("n_units")

    def _score(self, features: np.ndarray) -> np.ndarray:
        return _scores(features, Layers(self.weights, self.bias, self.output))


@dataclass(frozen=True, eq=False)
class MLPFamily(ParametricFamily):
    """The nets of `hidden` units, of the standardised features (x - mean) / scale.

    theta holds W (hidden, n_features) row by row, b (hidden,) and v (hidden,). The prior does not
    penalise b. A solver computes in float64; the model that it ends with keeps W in float32.

    Parameters
    ----------
    mean, scale : ndarray of shape (n_features,), float64
    hidden : int
    """

    name = "mlp"
    formula = "s = v . tanh(W x + b)"
    drawn = True

    mean: np.ndarray
    scale: np.ndarray
    hidden: int

    @classmethod
    def of(cls, train: QuerySet, settings: FamilySettings) -> MLPFamily:
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
        return _scores(features, self._layers(theta))

    def gradient(
        self, theta: np.ndarray, features: np.ndarray, score_gradient: np.ndarray
    ) -> np.ndarray:
        by_raw = _backpropagated(features, self._layers(theta), score_gradient)
        W = (by_raw.weights - np.outer(by_raw.bias, self.mean)) / self.scale
        return np.concatenate([W.ravel(), by_raw.bias, by_raw.output])

    def _layers(self, theta: np.ndarray) -> Layers:
        """Return the net at theta, as a net of the features as they are."""
        W, b, v = np.split(theta, [-2 * self.hidden, -self.hidden])
        weights = W.reshape(self.hidden, len(self.mean)) / self.scale
        return Layers(weights, b - products(weights, self.mean), v)


def _scores(features: np.ndarray, layers: Layers) -> np.ndarray:
    scores = np.empty(len(features))

    def part(start: int, stop: int) -> None:
        _score_blocks(features[start:stop], layers, scores[start:stop])

    parallel_for(part, len(features), least=ROWS)
    return scores


@kernel()
def _score_blocks(features: np.ndarray, layers: Layers, scores: np.ndarray) -> None:
    """Call `forward` on ROWS documents after the other."""
    hidden = np.empty((len(layers.bias), ROWS), layers.weights.dtype)
    for begin in range(0, len(features), ROWS):
        end = begin + ROWS
        forward(features[begin:end], layers, hidden, scores[begin:end])


def _backpropagated(features: np.ndarray, layers: Layers, gradient: np.ndarray) -> Layers:
    """Return what `net_gradient` does; blocks of rows are summed in order, whatever the threads."""
    n_blocks = -(-len(features) // ROWS)
    changes = [Layers(*(np.zeros_like(each) for each in layers)) for _ in range(n_blocks)]

    def part(first: int, last: int) -> None:
        shape = 2, len(layers.bias), min(ROWS, len(features))
        hidden, delta = np.empty(shape, layers.weights.dtype)
        for block in range(first, last):
            rows = slice(block * ROWS, (block + 1) * ROWS)
            x = features[rows]
            forward(x, layers, hidden, np.empty(len(x)))
            backward(x, layers, hidden, gradient[rows], delta, changes[block])

    parallel_for(part, n_blocks)
    return Layers(*(np.sum(each, axis=0) for each in zip(*changes, strict=True)))


def net_scores(features: np.ndarray, layers: Layers) -> np.ndarray:
    """Compute s(x) = v . tanh(W x + b) of every document.

    Parameters
    ----------
    features : ndarray of shape (n_docs, n_features)
    layers : Layers

    Returns
    -------
    ndarray of shape (n_docs,), float64

    Examples
    --------
    >>> layers = Layers(np.array([[1.0, 0.0], [0.0, 2.0]]), np.zeros(2), np.array([1.0, -1.0]))
    >>> net_scores(np.array([[0.5, 0.25], [2.0, 0.0]]), layers).round(3)
    array([0.   , 0.964])
    """
    hidden = features.astype(np.float64) @ layers.weights.T + layers.bias
    return np.tanh(hidden) @ layers.output if len(layers.output) else hidden[:, 0]


def net_gradient(features: np.ndarray, layers: Layers, gradient: np.ndarray) -> Layers:
    """Backpropagate: sum over documents of gradient_i times the derivatives of s(x_i).

    Parameters
    ----------
    features : ndarray of shape (n_docs, n_features)
    layers : Layers
        Where the derivatives are taken.
    gradient : ndarray of shape (n_docs,), float64
        The derivative of a loss by each score.

    Returns
    -------
    Layers
        The derivative of the loss by each parameter.
    """
    x = features.astype(np.float64)
    if len(layers.output) == 0:
        return Layers((gradient @ x)[None], np.array([gradient.sum()]), np.zeros(0))
    t = np.tanh(x @ layers.weights.T + layers.bias)
    delta = gradient[:, None] * layers.output * (1.0 - t**2)
    return Layers(delta.T @ x, delta.sum(axis=0), gradient @ t)


@kernel()
def forward(
    features: np.ndarray,
    layers: Layers,
    hidden: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Fill the first columns of `hidden` with the units' values, and `scores` with s(x).

    hidden: (n_units, at least n_docs), in the type of the weights. Each score is one sum in one
    order, so equal documents have equal scores wherever they stand.
    """
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


@kernel()
def backward(
    features: np.ndarray,
    layers: Layers,
    hidden: np.ndarray,
    gradient: np.ndarray,
    delta: np.ndarray,
    change: Layers,
) -> None:
    """Add what `net_gradient` computes to `change`, after `forward` has filled `hidden`.

    delta: workspace of the shape and the type of `hidden`.
    """
    n_docs = len(features)
    if len(layers.output) == 0:
        for i in range(n_docs):
            delta[0, i] = gradient[i]
        change.bias[0] += gradient[:n_docs].sum()
    for h in range(len(layers.output)):
        by_output, by_bias = _through_tanh(
            hidden[h, :n_docs], layers.output[h], gradient, delta[h, :n_docs]
        )
        change.output[h] += by_output
        change.bias[h] += by_bias
    _add_products(features, delta, change.weights)


@kernel(reorder=True)
def _through_tanh(
    t: np.ndarray, v: float, gradient: np.ndarray, delta: np.ndarray
) -> tuple[float, float]:
    """Fill a unit's delta, gradient v (1 - t^2); return the derivatives by v and by its bias."""
    by_output = by_bias = 0.0
    for i in range(len(t)):
        slope = gradient[i] * v * (1.0 - t[i] * t[i])
        by_output += gradient[i] * t[i]
        by_bias += slope
        delta[i] = slope
    return by_output, by_bias


@kernel(reorder=True)
def _project(features: np.ndarray, weights: np.ndarray, hidden: np.ndarray) -> None:
    """hidden[h, i] = sum over k of features[i, k] weights[h, k].

    Four documents and two units at a time, so that what is loaded is used more than once. The
    last documents of a set may be one and the same: no sum has another order than the others.
    """
    n_docs, (n_units, n_features) = len(features), weights.shape
    zero = weights.dtype.type(0)
    for i in range(0, n_docs if n_units > 1 else 0, 4):
        i1, i2, i3 = min(i + 1, n_docs - 1), min(i + 2, n_docs - 1), min(i + 3, n_docs - 1)
        x0, x1, x2, x3 = features[i], features[i1], features[i2], features[i3]
        for h in range(0, n_units - 1, 2):
            w0, w1 = weights[h], weights[h + 1]
            s00, s10, s20, s30 = zero, zero, zero, zero
            s01, s11, s21, s31 = zero, zero, zero, zero
            for k in range(n_features):
                s00 += x0[k] * w0[k]
                s01 += x0[k] * w1[k]
                s10 += x1[k] * w0[k]
                s11 += x1[k] * w1[k]
                s20 += x2[k] * w0[k]
                s21 += x2[k] * w1[k]
                s30 += x3[k] * w0[k]
                s31 += x3[k] * w1[k]
            hidden[h, i], hidden[h + 1, i] = s00, s01
            hidden[h, i1], hidden[h + 1, i1] = s10, s11
            hidden[h, i2], hidden[h + 1, i2] = s20, s21
            hidden[h, i3], hidden[h + 1, i3] = s30, s31
    for i in range(n_docs if n_units % 2 else 0):
        x, w, total = features[i], weights[n_units - 1], zero
        for k in range(n_features):
            total += x[k] * w[k]
        hidden[n_units - 1, i] = total


@kernel()
def _tanh(bias: float, x: np.ndarray) -> None:
    """Replace each x by tanh(bias + x) to the rounding of its type; this loop vectorises.

    NumPy's tanh compiled in this loop takes 25 ns a number, this takes 1.3: an epoch of RankNet
    with 10 hidden units would take about twice as long.

    tanh(y) for y = x / 2^5 is the Pade approximant p / q of degrees 7 and 8. From there
    tanh(2y) = 2 tanh(y) / (1 + tanh(y)^2) is 2pq / (q^2 + p^2), five times, which enlarges no
    relative error but for its own rounding.
    """
    number = x.dtype.type
    one, flat, part, b = number(1.0), number(FLAT), number(1.0 / 32.0), number(bias)
    p1, p2, p3 = number(2.0 / 15.0), number(2.0 / 585.0), number(4.0 / 225225.0)
    q1, q2 = number(7.0 / 15.0), number(1.0 / 39.0)
    q3, q4 = number(2.0 / 6435.0), number(1.0 / 2027025.0)
    for i in range(len(x)):
        y = b + x[i]
        y = flat if y > flat else (-flat if y < -flat else y)  # NaN stays NaN
        y = y * part
        z = y * y
        p = y * (one + z * (p1 + z * (p2 + z * p3)))
        q = one + z * (q1 + z * (q2 + z * (q3 + z * q4)))
        p, q = p * q, q * q + p * p
        p += p
        p, q = p * q, q * q + p * p
        p += p
        p, q = p * q, q * q + p * p
        p += p
        p, q = p * q, q * q + p * p
        p += p
        p, q = p * q, q * q + p * p
        x[i] = (p + p) / q


@kernel(reorder=True)
def _add_products(features: np.ndarray, delta: np.ndarray, change: np.ndarray) -> None:
    """change[h, k] += sum over i of delta[h, i] features[i, k], four documents at a time."""
    n_units, n_features = change.shape
    n_docs = len(features)
    in_fours, in_twos = n_docs - n_docs % 4, n_units - n_units % 2
    for i in range(0, in_fours, 4):
        x0, x1, x2, x3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        for h in range(0, in_twos, 2):
            a, b, row, next_row = delta[h, i:], delta[h + 1, i:], change[h], change[h + 1]
            a0, a1, a2, a3, b0, b1, b2, b3 = a[0], a[1], a[2], a[3], b[0], b[1], b[2], b[3]
            for k in range(n_features):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
                next_row[k] += b0 * x0[k] + b1 * x1[k] + b2 * x2[k] + b3 * x3[k]
        for h in range(in_twos, n_units):
            a, row = delta[h, i:], change[h]
            a0, a1, a2, a3 = a[0], a[1], a[2], a[3]
            for k in range(n_features):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
    for i in range(in_fours, n_docs):
        x0 = features[i]
        for h in range(n_units):
            a0, row = delta[h, i], change[h]
            for k in range(n_features):
                row[k] += a0 * x0[k]
