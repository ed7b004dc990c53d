"""Average precision or NDCG of one set of queries, made ready to be measured again and again."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.jit import kernel
from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings
from letorbench.measures.sorting import descending
from letorbench.threads import in_threads

#: the smallest number of documents for which another thread pays
LEAST = 20_000

#: of a query with more hits the documents are sorted; with fewer, counting above each is quicker
COUNTED = 500


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
        ranks = np.empty(len(self.hits), dtype=np.int64)
        self._fill(relevant_ranks, scores, ranks)
        terms = self._precisions(ranks) if self.discounts is None else self.discounts[ranks]
        return np.bincount(self.query, self.weights * terms, self.n_queries)

    def mean_of_orders(self, scores: np.ndarray) -> np.ndarray:
        """Measure every query by its mean over all orders of equal scores.

        A relevant document shares n ranks a + 1 .. a + n with the others of its score. NDCG gives
        it the mean discount of these. With A relevant documents above it and r that share its
        ranks, average precision gives it the mean precision (F. McSherry, M. Najork, "Computing
        Information Retrieval Performance Measures Efficiently in the Presence of Tied Scores",
        ECIR 2008)

            1/n sum_{k = 1..n} (A + 1 + (k - 1) (r - 1) / (n - 1)) / (a + k).

        Parameters, returns and errors are those of a call.
        """
        longest = int(np.diff(self.offsets).max(initial=0))
        precision = self.discounts is None
        values = 1.0 / np.maximum(np.arange(longest + 1), 1) if precision else self.discounts
        deepest = len(values) - 1 - int(np.argmax(values[::-1] != 0.0))
        table = RankTable(values, np.append(0.0, np.cumsum(values[1:])), deepest, precision)
        terms = np.empty(len(self.hits))
        self._fill(mean_terms, scores, terms, table)
        return np.bincount(self.query, self.weights * terms, self.n_queries)

    def _fill(
        self, kernel: Callable[..., None], scores: np.ndarray, out: np.ndarray, *more: object
    ) -> None:
        """Run a kernel that fills `out` for the hits of some queries, on all threads."""
        scores = np.require(scores, np.float64, ["C", "W"])
        if scores.shape != (self.offsets[-1],):
            raise DataError(f"found {len(scores)} scores, expected {self.offsets[-1]}")
        if np.isnan(scores.sum()) and np.isnan(scores).any():
            raise DataError("scores: found NaN, expected numbers")

        def part(start: int, stop: int) -> None:
            own = slice(start, stop + 1)
            kernel(scores, self.offsets[own], self.hits, self.hit_offsets[own], out, *more)

        in_threads(part, self.n_queries, max(1, LEAST * self.n_queries // max(1, len(scores))))

    def _precisions(self, ranks: np.ndarray) -> np.ndarray:
        """Return (n_hits,) P@rank of every hit, each query's in rank order."""
        shift = self.query * (int(ranks.max(initial=0)) + 1)
        ordered = np.sort(shift + ranks) - shift
        count = np.arange(1, len(ranks) + 1) - self.hit_offsets[self.query]
        return count / ordered


@kernel()
def relevant_ranks(
    scores: np.ndarray,
    offsets: np.ndarray,
    hits: np.ndarray,
    hit_offsets: np.ndarray,
    ranks: np.ndarray,
) -> None:
    """Write to ranks[h] the rank, from 1, of document hits[h] in its query; ties in file order."""
    for q in range(len(offsets) - 1):
        if hit_offsets[q + 1] - hit_offsets[q] > COUNTED:
            order, place = ranked_query(scores, offsets[q : q + 2])
            for h in range(hit_offsets[q], hit_offsets[q + 1]):
                ranks[h] = place[hits[h] - offsets[q]] + 1
            continue
        for h in range(hit_offsets[q], hit_offsets[q + 1]):
            score = scores[hits[h]]
            before, behind = scores[offsets[q] : hits[h]], scores[hits[h] + 1 : offsets[q + 1]]
            above = 1
            for j in range(len(before)):
                above += before[j] >= score
            for j in range(len(behind)):
                above += behind[j] > score
            ranks[h] = above


@kernel()
def ranked_query(scores: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort the documents bounds[0]..bounds[1] - 1: their rows in rank order, and their places."""
    n = bounds[1] - bounds[0]
    order, place = np.empty(n, dtype=np.int64), np.empty(n, dtype=np.int64)
    descending(scores[bounds[0] : bounds[1]], bounds - bounds[0], order)
    for p in range(n):
        place[order[p]] = p
    return order, place


class RankTable(NamedTuple):
    """What a hit's term depends on besides the counts of its ties.

    values[rank]: the discount, or 1 / rank; sums[rank]: their sum down to it; deepest: the last
    rank whose value is not 0; precision: whether the terms are mean precisions.
    """

    values: np.ndarray
    sums: np.ndarray
    deepest: int
    precision: bool


@kernel()
def mean_terms(
    scores: np.ndarray,
    offsets: np.ndarray,
    hits: np.ndarray,
    hit_offsets: np.ndarray,
    terms: np.ndarray,
    table: RankTable,
) -> None:
    """Write to terms[h] the mean term of document hits[h] over all orders of equal scores."""
    longest = 0
    for q in range(len(offsets) - 1):
        longest = max(longest, hit_offsets[q + 1] - hit_offsets[q])
    held = np.empty(min(longest, COUNTED))
    for q in range(len(offsets) - 1):
        own = scores[offsets[q] : offsets[q + 1]]
        first, last = hit_offsets[q], hit_offsets[q + 1]
        if last - first > COUNTED:
            order, place = ranked_query(scores, offsets[q : q + 2])
            sorted_terms(own, order, place[hits[first:last] - offsets[q]], table, terms[first:last])
            continue
        for h in range(first, last):
            held[h - first] = scores[hits[h]]
        for h in range(first, last):
            score = held[h - first]
            a = count_above(own, score)
            if a >= table.deepest:
                terms[h] = 0.0
                continue
            n, A, r = count_from(own, score) - a, 0, 1
            if table.precision:
                A = count_above(held[: last - first], score)
                r = count_from(held[: last - first], score) - A
            terms[h] = mean_term(a, n, A, r, table)


@kernel()
def count_above(scores: np.ndarray, score: float) -> int:
    """Count the larger scores."""
    count = 0
    for j in range(len(scores)):
        count += scores[j] > score
    return count


@kernel()
def count_from(scores: np.ndarray, score: float) -> int:
    """Count the scores that are as large or larger."""
    count = 0
    for j in range(len(scores)):
        count += scores[j] >= score
    return count


@kernel()
def mean_term(a: int, n: int, A: int, r: int, table: RankTable) -> float:
    """Return a hit's mean term; the letters are those of `PreparedMetric.mean_of_orders`."""
    if not table.precision:
        return table.values[a + 1] if n == 1 else (table.sums[a + n] - table.sums[a]) / n
    if n == 1:
        return (A + 1) / (a + 1)
    shared = table.sums[a + n] - table.sums[a]
    return ((A + 1) * shared + (r - 1) / (n - 1) * (n - (a + 1) * shared)) / n


@kernel()
def sorted_terms(
    scores: np.ndarray,
    order: np.ndarray,
    places: np.ndarray,
    table: RankTable,
    terms: np.ndarray,
) -> None:
    """Do as `mean_terms` for one query, from its order and the places of its hits."""
    hit = np.full(len(order), -1, dtype=np.int64)
    for h in range(len(places)):
        hit[places[h]] = h
    a = A = 0
    while a < len(order):
        n = r = 0
        while a + n < len(order) and scores[order[a + n]] == scores[order[a]]:
            r += hit[a + n] >= 0
            n += 1
        for p in range(a, a + n):
            if hit[p] >= 0:
                terms[hit[p]] = mean_term(a, n, A, r, table)
        a += n
        A += r
