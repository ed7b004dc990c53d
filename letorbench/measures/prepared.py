"""Average precision or NDCG of one set of queries, made ready to be measured again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.measures.all_orders import Queries, RankTable, mean_of_queries
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings
from letorbench.measures.relevant_ranks import relevant_ranks
from letorbench.threads import parallel_for

#: the smallest number of documents for which another thread pays
LEAST = 20_000

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
    hit_offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns ``hits[hit_offsets[q]:hit_offsets[q + 1]]``.
    query : ndarray of shape (n_hits,), int64
        The query of each hit.
    weights : ndarray of shape (n_hits,)
        gain / Z@k for NDCG@k, 1 / (hits of the query) for average precision.
    discounts : ndarray of shape (longest + 1,) or None
        D of each rank, 0 beyond k; None for average precision.
    """

    offsets: np.ndarray
    hits: np.ndarray
    hit_offsets: np.ndarray
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
        hit_offsets = np.searchsorted(hits, offsets).astype(np.int64, copy=False)
        relevant = np.diff(hit_offsets)
        query = np.repeat(np.arange(len(relevant)), relevant)
        shared = (offsets, hits, hit_offsets, query)
        if measure.name == "map":
            return PreparedMetric(*shared, 1.0 / relevant[query], None)
        rankings = Rankings(np.asarray(labels, np.int32), offsets, convention)
        ideal = rankings.at(rankings.ideal_dcg, measure.cutoff)
        discounts = convention.discount(
            np.maximum(np.arange(int(rankings.lengths.max(initial=0)) + 1), 1)
        )
        weights = (np.exp2(labels[hits]) - 1.0) / ideal[query]
        if measure.cutoff is not None:
            discounts[measure.cutoff + 1 :] = 0.0
            if not convention.short_ndcg:
                weights[rankings.lengths[query] < measure.cutoff] = 0.0
        return PreparedMetric(*shared, weights, discounts)

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
        if np.isnan(scores.sum()) and np.isnan(scores).any():
            raise DataError(UNDEFINED)
        ranks = np.empty(len(self.hits), dtype=np.int64)

        def part(start: int, stop: int) -> None:
            own = slice(start, stop + 1)
            relevant_ranks(scores, self.offsets[own], self.hits, self.hit_offsets[own], ranks)

        self._in_parts(part)
        terms = self._precisions(ranks) if self.discounts is None else self.discounts[ranks]
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
            own = slice(start, stop + 1)
            queries = Queries(self.offsets[own], self._rows, self.hit_offsets[own], self.weights)
            out = measured[start:stop]
            mean_of_queries(scores, float(step), column, queries, self._table, out)

        self._in_parts(part)
        if np.isnan(measured).any():
            raise DataError(UNDEFINED)
        return measured

    def _each(self, values: np.ndarray, dtype: type) -> np.ndarray:
        """Return a value of each document in the form that the kernels take."""
        values = np.require(values, dtype, ["C", "W"])
        if values.shape != (self.offsets[-1],):
            raise DataError(f"found {len(values)} scores, expected {self.offsets[-1]}")
        return values

    def _in_parts(self, part: Callable[[int, int], None]) -> None:
        """Call part(start, stop) for slices of the queries, on all threads."""
        n_docs = max(1, int(self.offsets[-1]))
        parallel_for(part, self.n_queries, max(1, LEAST * self.n_queries // n_docs))

    @cached_property
    def _rows(self) -> np.ndarray:
        """The rows of each query in turn, those of its hits first."""
        other = np.ones(int(self.offsets[-1]), dtype=bool)
        other[self.hits] = False
        query = np.repeat(np.arange(self.n_queries), np.diff(self.offsets))
        return np.argsort(2 * query + other, kind="stable")

    @cached_property
    def _table(self) -> RankTable:
        if self.discounts is not None:
            return RankTable.of(self.discounts, precision=False)
        longest = int(np.diff(self.offsets).max(initial=0))
        return RankTable.of(1.0 / np.maximum(np.arange(longest + 1), 1), precision=True)

    def _precisions(self, ranks: np.ndarray) -> np.ndarray:
        """Return (n_hits,) P@rank of every hit, each query's in rank order."""
        shift = self.query * (int(ranks.max(initial=0)) + 1)
        ordered = np.sort(shift + ranks) - shift
        count = np.arange(1, len(ranks) + 1) - self.hit_offsets[self.query]
        return count / ordered
