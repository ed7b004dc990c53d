"""What losses share: sums over queries, gains, ideal DCG, ranks and loops over pairs.

The gain is 2^r - 1 and the discount 1 / log2(1 + rank), as in the losses' papers, under every
measuring convention; the parameter `gain` changes the former, see `GainSettings`.

Documents of equal scores share ranks. Terms that depend on ranks are means over all orders of these
documents, which is exact and cheap.

Loops over pairs read documents by falling label (`QuerySet.by_label`). Those of one label are a
block, and each forms pairs with all documents behind the block. A loss has a kernel for the pairs
of a block, which `over_blocks` calls. With u = exp(s - max s), the pair (i, j) has sigma(s_j - s_i)
= u_j / (u_i + u_j): a query of m documents costs m exponentials instead of m^2 / 2. This loses
digits if the scores are too far apart, so a caller compares the span with `SPAN` and above it
computes each pair's exponential.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.conventions import gains, require_gain, standard_discount
from letorbench.datasets.queryset import QuerySet


def gain_rule() -> Any:
    """Declare the parameter `gain` of a loss or a ranker."""
    return field(default="exp2", kw_only=True, metadata={"require": require_gain})


@dataclass
class GainSettings:
    """The hyper-parameter of a ranker that uses gains.

    Parameters
    ----------
    gain : str
        As in a convention: ``exp2`` for 2^r - 1, ``linear`` for r, or the gains of the labels 0, 1,
        ... as ``0/1/3.5``. The measure has its own gain, from the convention.
    """

    gain: str = gain_rule()


def query_sums(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the sum (n_queries,) of values (n_docs,) in each query, 0 for an empty one."""
    total = np.add.reduceat(np.append(values, 0.0), queries.offsets[:-1])
    return np.where(queries.lengths > 0, total, 0.0)


def query_maxima(values: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return the largest (n_queries,) of values (n_docs,) in each query, 0 for an empty one."""
    largest = np.maximum.reduceat(np.append(values, -np.inf), queries.offsets[:-1])
    return np.where(queries.lengths > 0, largest, 0.0)


def inverse_or_zero(values: np.ndarray) -> np.ndarray:
    """Return 1 / values, and 0 for values that are not above 0."""
    return np.divide(1.0, values, out=np.zeros_like(values), where=values > 0.0)


def pairs(queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """Return the rows i and j (n_pairs,) of all pairs r_i > r_j of one query."""
    query = np.repeat(np.arange(queries.n_queries), queries.lengths)
    same = query[:, None] == query
    i, j = np.nonzero(same & (queries.labels[:, None] > queries.labels))
    return i, j


def pair_counts(queries: QuerySet) -> np.ndarray:
    """Return the number of pairs of different labels in each query, (n_queries,) float64."""
    blocks = queries.by_label
    block_query = np.repeat(np.arange(queries.n_queries), np.diff(blocks.queries))
    same = np.bincount(block_query, np.diff(blocks.starts) ** 2.0, queries.n_queries)
    return (queries.lengths**2.0 - same) / 2.0


def places(queries: QuerySet) -> np.ndarray:
    return np.arange(queries.n_docs) - np.repeat(queries.offsets[:-1], queries.lengths) + 1


def truncated_discount(queries: QuerySet, truncation: int = 0) -> np.ndarray:
    """Return D = 1 / log2(1 + rank) of ranks (longest query,), 0 after the rank `truncation`."""
    discount = standard_discount(np.arange(1, queries.lengths.max(initial=0) + 1))
    if truncation:
        discount[truncation:] = 0.0
    return discount


def inverse_ideal_dcg(queries: QuerySet, truncation: int = 0, gain: str = "exp2") -> np.ndarray:
    """Return 1 / Z of each query, (n_queries,), 0 without relevant documents."""
    blocks, offsets = queries.by_label, queries.offsets
    ideal = np.repeat(gains(blocks.labels, gain), np.diff(blocks.starts))
    discount = truncated_discount(queries, truncation)[places(queries) - 1]
    total = np.append(0.0, np.cumsum(ideal * discount))
    return inverse_or_zero(total[offsets[1:]] - total[offsets[:-1]])


def normalized_gains(queries: QuerySet, truncation: int = 0, gain: str = "exp2") -> np.ndarray:
    """Return G / Z of each document, (n_docs,), 0 in a query without relevant documents."""
    inverse_Z = inverse_ideal_dcg(queries, truncation, gain)
    return gains(queries.labels, gain) * np.repeat(inverse_Z, queries.lengths)


@kernel()
def tied_ranks(scores: np.ndarray, rank: np.ndarray, tied: np.ndarray) -> bool:
    """Count the documents of higher and of equal scores; return whether any scores are equal."""
    size = len(scores)  # a document has each rank rank[i]..rank[i] + tied[i] - 1, from 0, as likely
    total = 0
    for i in range(size):
        score, above = scores[i], 0
        for j in range(size):
            above += scores[j] > score
        rank[i], tied[i] = above, 1
        total += above
    if total == size * (size - 1) // 2:  # the ranks are 0, 1, ...: no scores are equal
        return False
    for i in range(size):
        score, equal = scores[i], 0
        for j in range(size):
            equal += scores[j] == score
        tied[i] = equal
    return True


@kernel()
def mean_of_ranks(values: np.ndarray, begin: int, count: int) -> float:
    """Return the mean of `count` values from values[begin] on."""
    total = 0.0
    for k in range(begin, begin + count):
        total += values[k]
    return total / count


@kernel()
def mean_difference(values: np.ndarray, begin: int, count: int, first: int) -> float:
    """Return the mean difference of two of `count` falling values, 0 of one value."""
    total = 0.0
    for k in range(count):  # two values count 0 if neither is one of the `first` ones
        above = count - 1.0 - k if k < first else 0.0
        total += values[begin + k] * (above - min(k, first))
    return 2.0 * total / (count * (count - 1.0)) if count > 1 else 0.0


def mean_swaps(
    scores: np.ndarray,
    i: np.ndarray,
    j: np.ndarray,
    D: np.ndarray,
    counts: Callable[[np.ndarray, np.ndarray], np.ndarray],  # do documents at two ranks count?
) -> tuple[np.ndarray, np.ndarray]:
    """Return the pairs' chances to count over all orders of ties, and their mean |D_i - D_j|."""
    first = (scores[:, None] < scores).sum(axis=1)
    tied = (scores[:, None] == scores).sum(axis=1)
    chance, difference = np.zeros(len(i)), np.zeros(len(i))
    for pair, (a, b) in enumerate(zip(i, j, strict=True)):
        x, y = np.meshgrid(
            np.arange(first[a], first[a] + tied[a]), np.arange(first[b], first[b] + tied[b])
        )
        possible = x != y
        counted = possible & counts(x, y)
        chance[pair] = counted.sum() / possible.sum()
        if counted.any():
            difference[pair] = np.abs(D[x] - D[y])[counted].mean()
    return chance, difference


#: above this, e^t is replaced by its tangent, so that it stays finite
STEEPEST = 30.0
#: the widest span of a query's scores for shared exponentials: a product of 8 of them is a normal
#: float64, and RankNet's loss multiplies no more at this span
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


def far_queries(values: np.ndarray, queries: QuerySet) -> Iterator[tuple[int, slice, QuerySet]]:
    """Yield each query whose scores span too much for a kernel, which gave it NaN, and its rows."""
    for q in np.flatnonzero(np.isnan(values)).tolist():
        yield q, slice(*queries.offsets[q : q + 2]), queries.queries(q, q + 1)


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
