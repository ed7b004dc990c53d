"""Shared parts of compiled loops over the pairs of a query: its blocks, exponentials and padding.

Documents are in the order of falling labels (`QuerySet.by_label`). Those of one label are a block,
and each forms pairs with all documents behind the block. A loss has a kernel for the pairs of a
block, which `over_blocks` calls.

With u = exp(s - max s), the pair (i, j) has sigma(s_j - s_i) = u_j / (u_i + u_j): a query of m
documents costs m exponentials instead of m^2 / 2. This loses digits if the scores are too far
apart, so a caller compares the span with `SPAN` and above it computes each pair's exponential.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from letorbench.compiled.jit import kernel

#: the widest span of a query's scores for shared exponentials: a product of 8 of them is a normal
#: float64, and `pairwise_logistic` multiplies no more at this span
SPAN = 80.0
#: documents are padded to a multiple of the compiler's unrolled vector length, with u = 0, which
#: adds nothing to a sum
VECTOR = 16


@kernel()
def padded(size: int) -> int:
    """Return the size, rounded up to a multiple of `VECTOR`."""
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
    """Fill u with exp(s - max s), return max s - min s; above SPAN u is s - max s. u may be s."""
    top, bottom = extent(s, size)
    span = top - bottom
    for i in range(size):
        u[i] = np.exp(s[i] - top) if span <= SPAN else s[i] - top
    return span


@kernel()
def gather_exponentials(scores: np.ndarray, order: np.ndarray, u: np.ndarray) -> bool:
    """Fill u with the `exponentials` of rows, then zeros; return whether the span fits SPAN."""
    gather(scores, order, u)
    return exponentials(u, len(order), u) <= SPAN


@kernel(kept=False)
def over_blocks(add: Callable[..., float], blocks: Any, q: int, state: Any) -> float:
    """Return the total of a kernel over the blocks of query q that have documents behind them.

    add(total, above, below, end, state) adds the pairs of the documents above..below - 1, which
    have one label, with below..end - 1, counted from the query's first document in label order.
    `blocks` is the `LabelBlocks` of a query set.
    """
    total, begin, end = 0.0, blocks.offsets[q], blocks.offsets[q + 1]
    for b in range(blocks.queries[q], blocks.queries[q + 1] - 1):
        above, below = blocks.starts[b] - begin, blocks.starts[b + 1] - begin
        total = add(total, above, below, end - begin, state)
    return total
