"""A neural net with one hidden layer, s(x) = v . tanh(W x + b), and its backpropagation.

The equations are `net_scores` and `net_gradient`, in plain NumPy. The compiled kernels `forward`
and `backward` compute the same for the documents of one query at a time.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.arithmetic import product
from letorbench.jit import kernel
from letorbench.models.base import Model, array
from letorbench.models.parametric import ParametricFamily
from letorbench.threads import in_threads

#: documents whose hidden units are in memory at a time
ROWS = 4096

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
class MLP(Model, kind="net"):
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

    mean: np.ndarray
    scale: np.ndarray
    hidden: int

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
        return Layers(weights, b - product(weights, self.mean), v)


def _scores(features: np.ndarray, layers: Layers) -> np.ndarray:
    scores = np.empty(len(features))

    def part(start: int, stop: int) -> None:
        hidden = np.empty((min(ROWS, stop - start), len(layers.bias)))
        for begin in range(start, stop, ROWS):
            rows = slice(begin, min(begin + ROWS, stop))
            forward(features[rows], layers, hidden, scores[rows])

    in_threads(part, len(features), least=ROWS)
    return scores


def _backpropagated(features: np.ndarray, layers: Layers, gradient: np.ndarray) -> Layers:
    """Return what `net_gradient` does; blocks of rows are summed in order, whatever the threads."""
    n_blocks = -(-len(features) // ROWS)
    changes = [Layers(*(np.zeros_like(each) for each in layers)) for _ in range(n_blocks)]

    def part(first: int, last: int) -> None:
        hidden, delta = np.empty((2, min(ROWS, len(features)), len(layers.bias)))
        for block in range(first, last):
            rows = slice(block * ROWS, (block + 1) * ROWS)
            x = features[rows]
            forward(x, layers, hidden, np.empty(len(x)))
            backward(x, layers, hidden, gradient[rows], delta, changes[block])

    in_threads(part, n_blocks)
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
def forward(features: np.ndarray, layers: Layers, hidden: np.ndarray, scores: np.ndarray) -> None:
    """Fill the first rows of `hidden` with the units' values and of `scores` with s(x).

    hidden: (at least n_docs, n_units). Each score is one sum in one order, so equal documents
    have equal scores wherever they stand.
    """
    n_docs, n_units = len(features), len(layers.bias)
    _project(features, layers.weights, layers.bias, hidden)
    if len(layers.output) == 0:
        for i in range(n_docs):
            scores[i] = hidden[i, 0]
        return
    _tanh(hidden.reshape(hidden.size), n_docs * n_units)
    for i in range(n_docs):
        total = 0.0
        for h in range(n_units):
            total += layers.output[h] * hidden[i, h]
        scores[i] = total


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

    delta: workspace of shape (at least n_docs, n_units) in the type of the weights.
    """
    n_units = len(layers.bias)
    for i in range(len(features)):
        if len(layers.output) == 0:
            delta[i, 0] = gradient[i]
            change.bias[0] += gradient[i]
            continue
        for h in range(n_units):
            t = hidden[i, h]
            change.output[h] += gradient[i] * t
            d = gradient[i] * layers.output[h] * (1.0 - t * t)
            change.bias[h] += d
            delta[i, h] = d
    _add_products(features, delta, change.weights)


@kernel(reorder=True)
def _project(
    features: np.ndarray, weights: np.ndarray, bias: np.ndarray, hidden: np.ndarray
) -> None:
    """hidden[i, h] = bias[h] + sum over k of features[i, k] weights[h, k].

    Three documents and two units at a time, so that what is loaded is used more than once. The
    last documents of a set may be one and the same: no sum has another order than the others.
    """
    n_docs, (n_units, n_features) = len(features), weights.shape
    zero = weights.dtype.type(0)
    for i in range(0, n_docs if n_units > 1 else 0, 3):
        i1, i2 = min(i + 1, n_docs - 1), min(i + 2, n_docs - 1)
        x0, x1, x2 = features[i], features[i1], features[i2]
        for h in range(0, n_units - 1, 2):
            w0, w1 = weights[h], weights[h + 1]
            s00, s10, s20, s01, s11, s21 = zero, zero, zero, zero, zero, zero
            for k in range(n_features):
                s00 += x0[k] * w0[k]
                s10 += x1[k] * w0[k]
                s20 += x2[k] * w0[k]
                s01 += x0[k] * w1[k]
                s11 += x1[k] * w1[k]
                s21 += x2[k] * w1[k]
            hidden[i, h], hidden[i, h + 1] = bias[h] + s00, bias[h + 1] + s01
            hidden[i1, h], hidden[i1, h + 1] = bias[h] + s10, bias[h + 1] + s11
            hidden[i2, h], hidden[i2, h + 1] = bias[h] + s20, bias[h + 1] + s21
    for i in range(n_docs if n_units % 2 else 0):
        x, w, total = features[i], weights[n_units - 1], zero
        for k in range(n_features):
            total += x[k] * w[k]
        hidden[i, n_units - 1] = bias[n_units - 1] + total


@kernel()
def _tanh(x: np.ndarray, size: int) -> None:
    """Replace the first `size` numbers by their tanh, to about 1e-14; this loop vectorises.

    tanh|x| = (1 - e) / (1 + e), where e = exp(-2|x|) = exp(-2|x| / 256)^256, and that last
    exponential is its power series.
    """
    for i in range(size):
        t = -2.0 / 256.0 * min(abs(x[i]), FLAT)
        series = 1.0 + t / 9.0
        series = 1.0 + t / 8.0 * series
        series = 1.0 + t / 7.0 * series
        series = 1.0 + t / 6.0 * series
        series = 1.0 + t / 5.0 * series
        series = 1.0 + t / 4.0 * series
        series = 1.0 + t / 3.0 * series
        series = 1.0 + t / 2.0 * series
        e = 1.0 + t * series
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        e = e * e
        y = (1.0 - e) / (1.0 + e)
        x[i] = y if x[i] >= 0.0 else -y


@kernel(reorder=True)
def _add_products(features: np.ndarray, delta: np.ndarray, change: np.ndarray) -> None:
    """change[h, k] += sum over i of delta[i, h] features[i, k], four documents at a time."""
    n_units, n_features = change.shape
    n_docs = len(features)
    in_fours, in_twos = n_docs - n_docs % 4, n_units - n_units % 2
    for i in range(0, in_fours, 4):
        x0, x1, x2, x3 = features[i], features[i + 1], features[i + 2], features[i + 3]
        for h in range(0, in_twos, 2):
            a0, a1, a2, a3 = delta[i, h], delta[i + 1, h], delta[i + 2, h], delta[i + 3, h]
            g = h + 1
            b0, b1, b2, b3 = delta[i, g], delta[i + 1, g], delta[i + 2, g], delta[i + 3, g]
            row, next_row = change[h], change[g]
            for k in range(n_features):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
                next_row[k] += b0 * x0[k] + b1 * x1[k] + b2 * x2[k] + b3 * x3[k]
        for h in range(in_twos, n_units):
            a0, a1, a2, a3 = delta[i, h], delta[i + 1, h], delta[i + 2, h], delta[i + 3, h]
            row = change[h]
            for k in range(n_features):
                row[k] += a0 * x0[k] + a1 * x1[k] + a2 * x2[k] + a3 * x3[k]
    for i in range(in_fours, n_docs):
        x0 = features[i]
        for h in range(n_units):
            a0, row = delta[i, h], change[h]
            for k in range(n_features):
                row[k] += a0 * x0[k]
