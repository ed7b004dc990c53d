"""What compiled loops over the documents of a query share: label order, exponentials, padding.

With u = exp(s - max s), the pair (i, j) has sigma(s_j - s_i) = u_j / (u_i + u_j): a query of m
documents costs m exponentials instead of m^2 / 2. This loses digits where the scores are too far
apart, so a caller compares the span with `SPAN` and gives each pair its own exponential there.
"""

import numpy as np

from letorbench.jit import kernel

#: the widest span of a query's scores that shared exponentials serve: a product of 8 of them is
#: a normal float64, and `pairwise_logistic` multiplies no more at this span
SPAN = 80.0
#: documents are padded with u = 0, which adds nothing to a sum, to a multiple of this, the
#: compiler's unrolled vector length
VECTOR = 16


@kernel()
def padded(size: int) -> int:
    """Return the size, up to the next multiple of `VECTOR`."""
    return (size + VECTOR - 1) // VECTOR * VECTOR


@kernel()
def gather(scores: np.ndarray, order: np.ndarray, s: np.ndarray) -> None:
    """Fill s with the scores of the rows in `order`, and with zeros behind them."""
    for p in range(len(order)):
        s[p] = scores[order[p]]
    s[len(order) :] = 0.0


@kernel()
def scatter(values: np.ndarray, order: np.ndarray, factor: float, out: np.ndarray) -> None:
    """Put values, in the order of `gather`, times a factor into their rows of `out`."""
    for p in range(len(order)):
        out[order[p]] = values[p] * factor


@kernel()
def extent(s: np.ndarray, size: int) -> tuple[float, float]:
    """Return the largest and the smallest of the first `size` scores."""
    top, bottom = -np.inf, np.inf
    for i in range(size):
        top, bottom = max(top, s[i]), min(bottom, s[i])
    return top, bottom


@kernel()
def exponentials(s: np.ndarray, size: int, u: np.ndarray) -> float:
    """Fill u with exp(s - max s) of the first `size` scores; return their span, max s - min s.

    Where the span is more than SPAN, u is s - max s instead. u may be s itself.
    """
    top, bottom = extent(s, size)
    span = top - bottom
    for i in range(size):
        u[i] = np.exp(s[i] - top) if span <= SPAN else s[i] - top
    return span


@kernel()
def gather_exponentials(scores: np.ndarray, order: np.ndarray, u: np.ndarray) -> bool:
    """Fill u with what `exponentials` gives of the rows in `order`; return whether SPAN holds.

    Zeros follow.
    """
    gather(scores, order, u)
    return exponentials(u, len(order), u) <= SPAN
