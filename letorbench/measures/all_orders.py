"""Average precision or NDCG of queries, each its mean over all orders of equal scores.

What a hit adds depends on how many documents are above it and how many share its score. The letters
are those of `PreparedMetric.mean_of_orders`: a documents are above a hit, A of them hits; n share
its score, r of them hits, itself among them. A query's documents come with its hits first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.jit import kernel, longest_query
from letorbench.measures.counting import BLOCK, COUNTED, TOGETHER, count, whole_blocks
from letorbench.measures.sorting import descending


class RankTable(NamedTuple):
    """What a hit's term depends on besides the counts.

    values[rank]: the discount, or 1 / rank; sums[rank]: their sum down to it; deepest: the last
    rank whose value is not 0; precision: whether the terms are mean precisions.
    """

    values: np.ndarray
    sums: np.ndarray
    deepest: int
    precision: bool

    @staticmethod
    def of(values: np.ndarray, precision: bool) -> RankTable:
        """Make the table of the values of ranks 0, which is none, 1, 2 and so on."""
        deepest = len(values) - 1 - int(np.argmax(values[::-1] != 0.0))
        return RankTable(values, np.append(0.0, np.cumsum(values[1:])), deepest, precision)


class Queries(NamedTuple):
    """The documents of some queries, and their hits.

    rows[offsets[q]:offsets[q + 1]]: the documents of query q, its hits first;
    weights[hit_offsets[q]:hit_offsets[q + 1]]: the weights of its hits' terms.
    """

    offsets: np.ndarray
    rows: np.ndarray
    hit_offsets: np.ndarray
    weights: np.ndarray


@kernel()
def mean_of_queries(
    scores: np.ndarray,
    step: float,
    column: np.ndarray,
    queries: Queries,
    table: RankTable,
    measured: np.ndarray,
) -> None:
    """Write to measured[q] the measure by scores + step * column; NaN where one of them is NaN."""
    offsets, hit_offsets = queries.offsets, queries.hit_offsets
    longest = longest_query(offsets, 0, len(measured))
    exact, single = np.empty(longest), np.empty(longest + BLOCK, dtype=np.float32)
    scratch = np.empty((4, longest + TOGETHER), dtype=np.int32)
    for q in range(len(measured)):
        own = queries.rows[offsets[q] : offsets[q + 1]]
        undefined, rounded = False, False
        for i in range(len(own)):
            score = scores[own[i]] + step * column[own[i]]
            exact[i], single[i] = score, score
            undefined |= score != score
            rounded |= score != single[i]
        of_hits = queries.weights[hit_offsets[q] : hit_offsets[q + 1]]
        if undefined:
            measured[q] = np.nan
        elif len(of_hits) > COUNTED:
            measured[q] = sorted_query(exact[: len(own)], of_hits, table)
        else:
            measured[q] = counted_query(exact[: len(own)], single, rounded, of_hits, table, scratch)


@kernel()
def counted_query(
    scores: np.ndarray,
    single: np.ndarray,
    rounded: bool,
    weights: np.ndarray,
    table: RankTable,
    scratch: np.ndarray,
) -> float:
    """Return a query's measure from the scores counted above each of its hits.

    They are counted in single precision, see `count`. Only a hit whose single score others share is
    counted again, if any was rounded.
    """
    hits, above, level, before = scratch[0], scratch[1], scratch[2], scratch[3]
    chosen = high_hits(scores, len(weights), table.deepest, hits)
    count(whole_blocks(single, len(scores)), hits, chosen, above, level)
    for i in range(chosen):
        if rounded and level[i] > 1:
            above[i], level[i] = count_exactly(scores, scores[hits[i]])
    if table.precision:
        hits_before(above[:chosen], before[: len(scores) + 1])
    total, A, r = 0.0, 0, 1
    for i in range(chosen):
        a, n = above[i], level[i]
        if a < table.deepest:
            if table.precision:
                A, r = before[a], before[a + 1] - before[a]
            total += weights[hits[i]] * mean_term(a, n, A, r, table)
    return total


@kernel()
def high_hits(scores: np.ndarray, n_hits: int, deepest: int, hits: np.ndarray) -> int:
    """Write those of the first n_hits that may be among the `deepest` best; return their number.

    The hits are split into `deepest` groups. Each group has a hit as high as its best, so at least
    `deepest` documents are above one that is lower than the lowest best.
    """
    lowest = np.inf if n_hits > deepest else -np.inf
    for group in range(deepest if n_hits > deepest else 0):
        best = -np.inf
        for h in range(group * n_hits // deepest, (group + 1) * n_hits // deepest):
            best = max(best, scores[h])
        lowest = min(lowest, best)
    chosen = 0
    for h in range(n_hits):
        hits[chosen] = h
        chosen += scores[h] >= lowest
    return chosen


@kernel()
def count_exactly(scores: np.ndarray, score: float) -> tuple[int, int]:
    """Count the larger scores and the equal ones."""
    above = level = 0
    for j in range(len(scores)):
        above += scores[j] > score
        level += scores[j] == score
    return above, level


@kernel()
def hits_before(above: np.ndarray, before: np.ndarray) -> None:
    """Write to before[a] how many hits have fewer than a documents above them."""
    before[:] = 0
    for i in range(len(above)):
        before[above[i] + 1] += 1
    for a in range(1, len(before)):
        before[a] += before[a - 1]


@kernel()
def mean_term(a: int, n: int, A: int, r: int, table: RankTable) -> float:
    """Return a hit's mean term."""
    if not table.precision:
        return table.values[a + 1] if n == 1 else (table.sums[a + n] - table.sums[a]) / n
    if n == 1:
        return (A + 1) / (a + 1)
    shared = table.sums[a + n] - table.sums[a]
    return ((A + 1) * shared + (r - 1) / (n - 1) * (n - (a + 1) * shared)) / n


@kernel()
def sorted_query(scores: np.ndarray, weights: np.ndarray, table: RankTable) -> float:
    """Do as `counted_query`, by sorting."""
    n_docs, n_hits = len(scores), len(weights)
    order, terms = np.empty(n_docs, dtype=np.int64), np.empty(n_hits)
    descending(scores, np.array([0, n_docs]), order)
    a = A = 0
    while a < n_docs:
        n = r = 0
        while a + n < n_docs and scores[order[a + n]] == scores[order[a]]:
            r += order[a + n] < n_hits
            n += 1
        for p in range(a, a + n):
            if order[p] < n_hits:
                terms[order[p]] = mean_term(a, n, A, r, table)
        a += n
        A += r
    total = 0.0
    for h in range(n_hits):
        total += weights[h] * terms[h]
    return total
