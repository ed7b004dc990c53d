"""Average precision or NDCG of one set of queries, made ready to be measured again and again.

What a relevant document, a hit, adds depends on how many documents are above it and how many
share its score. The letters are those of `PreparedMetric.mean_of_orders`: a documents are above a
hit, A of them hits; n share its score, r of them hits, itself among them. The kernels get a
query's documents with its hits first.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.jit import kernel, longest_query
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import LEAST, Rankings, rank
from letorbench.threads import parallel_for

UNDEFINED = "scores: found NaN, expected numbers"


@dataclass(frozen=True, eq=False)
class PreparedMetric:
    """Average precision or NDCG of one set of queries, from its relevant documents' ranks.

    It equals `query_metrics` up to rounding and takes a fraction of its time. Boosting measures
    after each round with it, descent after each epoch.

    Parameters
    ----------
    offsets : ndarray of shape (n_queries + 1,), int64
    hits : ndarray of shape (n_hits,), int64
        The rows of the relevant documents, ascending; for NDCG of those with a gain.
    query : ndarray of shape (n_hits,), int64
        The query of each hit.
    weights : ndarray of shape (n_hits,)
        gain / Z@k for NDCG@k, 1 / (hits of the query) for average precision.
    discounts : ndarray of shape (longest + 1,) or None
        D of each rank, 0 beyond k; None for average precision.
    """

    offsets: np.ndarray
    hits: np.ndarray
    query: np.ndarray
    weights: np.ndarray
    discounts: np.ndarray | None

    @staticmethod
    def of(
        labels: np.ndarray, offsets: np.ndarray, measure: Measure, convention: Convention
    ) -> PreparedMetric | None:
        """Prepare `measure` for the queries of labels (n_docs,) and offsets (n_queries + 1,).

        Returns None for a measure other than map, ndcg and ndcg@k.
        """
        if measure.name not in ("map", "ndcg"):
            return None
        offsets = np.require(offsets, np.int64, ["C", "W"])
        hits = np.flatnonzero(labels >= (convention.relevant if measure.name == "map" else 1))
        query = np.searchsorted(offsets, hits, side="right") - 1
        if measure.name == "map":
            weights = 1.0 / np.bincount(query, minlength=len(offsets) - 1)[query]
            return PreparedMetric(offsets, hits, query, weights, None)
        rankings = Rankings(np.asarray(labels, np.int32), offsets, convention)
        weights = (np.exp2(labels[hits]) - 1.0) / rankings.at(rankings.ideal_dcg, measure.cutoff)[
            query
        ]
        places = np.arange(int(rankings.lengths.max(initial=0)) + 1)
        discounts = convention.discount(np.maximum(places, 1))
        if measure.cutoff is not None:
            discounts[measure.cutoff + 1 :] = 0.0
            if not convention.short_ndcg:
                weights[rankings.lengths[query] < measure.cutoff] = 0.0
        return PreparedMetric(offsets, hits, query, weights, discounts)

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """Measure every query.

        Parameters
        ----------
        scores : ndarray of shape (n_docs,)
            In file order.

        Returns
        -------
        ndarray of shape (n_queries,), float64
            0 where nothing is relevant.

        Raises
        ------
        DataError
            The scores hold NaN, or there are too many or too few of them.
        """
        scores = self._each(scores, np.float64)
        if np.isnan(scores).any():
            raise DataError(UNDEFINED)
        position = np.empty(len(scores), dtype=np.int64)
        position[rank(scores, self.offsets)] = np.arange(len(scores))
        ranks = position[self.hits] - self.offsets[self.query] + 1
        if self.discounts is not None:
            terms = self.discounts[ranks]
        else:  # the precisions of each query, in rank order
            count = np.arange(1, len(ranks) + 1) - self._hit_offsets[self.query]
            terms = count / (np.sort(position[self.hits]) - self.offsets[self.query] + 1)
        return np.bincount(self.query, self.weights * terms, self.n_queries)

    def mean_of_orders(
        self, scores: np.ndarray, step: float = 0.0, column: np.ndarray | None = None
    ) -> np.ndarray:
        """Measure every query by its mean over all orders of equal scores.

        A relevant document shares n ranks a + 1 .. a + n with the others of its score. NDCG gives
        it the mean discount of these. With A relevant documents above it and r that share its
        ranks, average precision gives it the mean precision (F. McSherry, M. Najork, "Computing
        Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores",
        ECIR 2008)

            1/n sum_{k = 1..n} (A + 1 + (k - 1) (r - 1) / (n - 1)) / (a + k).

        Parameters
        ----------
        scores : ndarray of shape (n_docs,)
            In file order.
        step : float, default 0
        column : ndarray of shape (n_docs,), float32, optional
            What is measured is ``scores + step * column``. Boosting tries its weak rankers so.

        Returns and errors are those of a call.
        """
        scores = self._each(scores, np.float64)
        if column is None:
            column = np.zeros(len(scores), dtype=np.float32)
        column = self._each(column, np.float32)
        measured = np.empty(self.n_queries)

        def part(start: int, stop: int) -> None:
            queries = self._queries, start, stop
            _mean_of_queries(scores, float(step), column, *queries, self._table, measured)

        least = LEAST * self.n_queries // max(1, int(self.offsets[-1]))
        parallel_for(part, self.n_queries, max(1, least))
        if np.isnan(measured).any():
            raise DataError(UNDEFINED)
        return measured

    def _each(self, values: np.ndarray, dtype: type) -> np.ndarray:
        """Return a value of each document in the form that the kernels take."""
        values = np.require(values, dtype, ["C", "W"])
        if values.shape != (self.offsets[-1],):
            raise DataError(f"found {len(values)} scores, expected {self.offsets[-1]}")
        return values

    @cached_property
    def _hit_offsets(self) -> np.ndarray:
        return np.searchsorted(self.hits, self.offsets)

    @cached_property
    def _queries(self) -> _Queries:
        other = np.ones(int(self.offsets[-1]), dtype=bool)
        other[self.hits] = False
        query = np.repeat(np.arange(self.n_queries), np.diff(self.offsets))
        rows = np.argsort(2 * query + other, kind="stable")
        return _Queries(self.offsets, rows, self._hit_offsets, self.weights)

    @cached_property
    def _table(self) -> _RankTable:
        values = self.discounts
        if values is None:
            values = 1.0 / np.maximum(np.arange(np.diff(self.offsets).max(initial=0) + 1), 1)
        deepest = len(values) - 1 - int(np.argmax(values[::-1] != 0.0))
        sums = np.append(0.0, np.cumsum(values[1:]))
        return _RankTable(values, sums, deepest, self.discounts is None)


class _Queries(NamedTuple):
    """The documents of the queries, and their hits.

    rows[offsets[q]:offsets[q + 1]]: the documents of query q, its hits first;
    weights[hit_offsets[q]:hit_offsets[q + 1]]: the weights of its hits' terms.
    """

    offsets: np.ndarray
    rows: np.ndarray
    hit_offsets: np.ndarray
    weights: np.ndarray


class _RankTable(NamedTuple):
    """What a hit's term depends on besides the counts.

    values[rank]: the discount, or 1 / rank; sums[rank]: their sum down to it; deepest: the last
    rank whose value is not 0; precision: whether the terms are mean precisions.
    """

    values: np.ndarray
    sums: np.ndarray
    deepest: int
    precision: bool


@kernel()
def _mean_of_queries(
    scores: np.ndarray,
    step: float,
    column: np.ndarray,
    queries: _Queries,
    start: int,
    stop: int,
    table: _RankTable,
    measured: np.ndarray,
) -> None:
    """Write to measured[start:stop] the measure by scores + step * column, NaN if one is NaN."""
    offsets, hit_offsets = queries.offsets, queries.hit_offsets
    longest = longest_query(offsets, start, stop)
    moved, scratch = np.empty(longest), np.empty((4, longest + 1), dtype=np.int64)
    for q in range(start, stop):
        own = queries.rows[offsets[q] : offsets[q + 1]]
        undefined = False
        for i in range(len(own)):
            moved[i] = scores[own[i]] + step * column[own[i]]
            undefined |= moved[i] != moved[i]
        of_hits = queries.weights[hit_offsets[q] : hit_offsets[q + 1]]
        measured[q] = _query(moved[: len(own)], of_hits, table, scratch)
        if undefined:
            measured[q] = np.nan


@kernel()
def _query(
    scores: np.ndarray, weights: np.ndarray, table: _RankTable, scratch: np.ndarray
) -> float:
    """Return a query's measure from the scores counted above each of its hits."""
    hits, above, level, before = scratch[0], scratch[1], scratch[2], scratch[3]
    chosen = _high_hits(scores, len(weights), table.deepest, hits)
    before[: len(scores) + 1] = 0  # before[a]: how many hits have fewer than a documents above them
    for i in range(chosen):
        score, higher, as_high = scores[hits[i]], 0, 0
        for j in range(len(scores)):
            higher += scores[j] > score
            as_high += scores[j] >= score
        above[i], level[i] = higher, as_high - higher
        before[higher + 1] += 1
    for a in range(len(scores)):
        before[a + 1] += before[a]
    total = 0.0
    for i in range(chosen):
        a, n = above[i], level[i]
        if a < table.deepest:
            A, r = before[a], before[a + 1] - before[a]
            total += weights[hits[i]] * _mean_term(a, n, A, r, table)
    return total


@kernel()
def _high_hits(scores: np.ndarray, n_hits: int, deepest: int, hits: np.ndarray) -> int:
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
def _mean_term(a: int, n: int, A: int, r: int, table: _RankTable) -> float:
    """Return a hit's mean term."""
    if not table.precision:
        return table.values[a + 1] if n == 1 else (table.sums[a + n] - table.sums[a]) / n
    if n == 1:
        return (A + 1) / (a + 1)
    shared = table.sums[a + n] - table.sums[a]
    return ((A + 1) * shared + (r - 1) / (n - 1) * (n - (a + 1) * shared)) / n
