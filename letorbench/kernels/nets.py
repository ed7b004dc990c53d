"""Nets of one or two layers: documents to scores, forces on scores to forces on weights.

One layer (no output weights) is s = w . x + b; two layers are s = sum_h v_h tanh(w_h . x + b_h).
The layer on the features is in the weights' own type, float32 to train and float64 to test
and compare; everything after it is float64. Each document's score is summed by itself and
in one order, so equal documents score equally wherever they stand.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: |x| above this, tanh is 1 to the last bit of a float64
FLAT = 20.0


@kernel(reorder=True)
def project(
    features: np.ndarray,
    begin: int,
    end: int,
    weights: np.ndarray,
    bias: np.ndarray,
    hidden: np.ndarray,
) -> None:
    """hidden[i, h] = bias[h] + sum over k of features[begin + i, k] weights[h, k]."""
    n_hidden, n_features = weights.shape
    zero = weights.dtype.type(0)
    for i in range(end - begin):
        x = features[begin + i]
        for h in range(0, n_hidden - 1, 2):
            first, second = zero, zero
            for k in range(n_features):
                first += x[k] * weights[h, k]
                second += x[k] * weights[h + 1, k]
            hidden[i, h] = bias[h] + first
            hidden[i, h + 1] = bias[h + 1] + second
        if n_hidden % 2:
            total = zero
            for k in range(n_features):
                total += x[k] * weights[n_hidden - 1, k]
            hidden[i, n_hidden - 1] = bias[n_hidden - 1] + total


@kernel()
def tanh(x: np.ndarray, size: int) -> None:
    """tanh of the first `size` numbers in place, to about 1e-14, vectorised.

    (1 - e) / (1 + e), e = exp(-2|x|) = exp(-2|x| / 256)^256 with that exponential's series.
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


@kernel()
def forward(
    features: np.ndarray,
    begin: int,
    end: int,
    weights: np.ndarray,
    bias: np.ndarray,
    output: np.ndarray,
    hidden: np.ndarray,
    scores: np.ndarray,
) -> None:
    """Scores of the rows begin..end - 1 to scores[0:], the hidden units' values to hidden[0:].

    output: v of two layers, empty for one. hidden: room for n_docs x n_hidden, C order.
    """
    project(features, begin, end, weights, bias, hidden)
    n_hidden = len(bias)
    if len(output) == 0:
        for i in range(end - begin):
            scores[i] = hidden[i, 0]
        return
    tanh(hidden.reshape(hidden.size), (end - begin) * n_hidden)
    for i in range(end - begin):
        total = 0.0
        for h in range(n_hidden):
            total += output[h] * hidden[i, h]
        scores[i] = total


@kernel(reorder=True)
def accumulate(
    features: np.ndarray, begin: int, end: int, pull: np.ndarray, change: np.ndarray
) -> None:
    """change[h, k] += sum over i of pull[i, h] features[begin + i, k]; four documents at a time."""
    n_hidden, n_features = change.shape
    size = end - begin
    for i in range(0, size - 3, 4):
        x0, x1 = features[begin + i], features[begin + i + 1]
        x2, x3 = features[begin + i + 2], features[begin + i + 3]
        for h in range(n_hidden):
            p0, p1, p2, p3 = pull[i, h], pull[i + 1, h], pull[i + 2, h], pull[i + 3, h]
            row = change[h]
            for k in range(n_features):
                row[k] += p0 * x0[k] + p1 * x1[k] + p2 * x2[k] + p3 * x3[k]
    for i in range(size - size % 4, size):
        x0 = features[begin + i]
        for h in range(n_hidden):
            p0, row = pull[i, h], change[h]
            for k in range(n_features):
                row[k] += p0 * x0[k]


@kernel()
def backward(
    features: np.ndarray,
    begin: int,
    end: int,
    output: np.ndarray,
    hidden: np.ndarray,
    force: np.ndarray,
    pull: np.ndarray,
    change: np.ndarray,
    bias_change: np.ndarray,
    output_change: np.ndarray,
) -> None:
    """Add sum_i force_i ds_i/d(weights, bias, output) to the changes, after `forward`.

    pull: room for n_docs x n_hidden.
    """
    n_hidden = len(bias_change)
    for i in range(end - begin):
        if len(output) == 0:
            pull[i, 0] = force[i]
            bias_change[0] += force[i]
            continue
        for h in range(n_hidden):
            t = hidden[i, h]
            output_change[h] += force[i] * t
            p = force[i] * output[h] * (1.0 - t * t)
            bias_change[h] += p
            pull[i, h] = p
    accumulate(features, begin, end, pull, change)
