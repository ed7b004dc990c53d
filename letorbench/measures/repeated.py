"""Average precision or NDCG of one set of queries, made ready to be measured again and again."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.kernels.relevant_ranks import relevant_ranks
from letorbench.measures.base import Measure
from letorbench.measures.rankings import Rankings
from letorbench.threads import in_threads

#: documents for whose ranks a thread is worth its start
LEAST = 20_000


@dataclass(frozen=True, eq=False)
class Repeated:
    """E(q, scores) from the relevant documents' ranks alone.

    What `evaluate` gives, up to rounding, in a fraction of its time: boosting measures after
    each round, descent after each epoch.

    offsets:     (n_queries + 1,) int64.
    hits:        (n_hits,) int64 rows of the relevant documents, ascending; for NDCG those
                 with a gain.
    hit_offsets: (n_queries + 1,) int64; query q owns hits[hit_offsets[q]:hit_offsets[q + 1]].
    query:       (n_hits,) int64; the query of each hit.
    weights:     (n_hits,) gain / Z@k for NDCG@k, 1 / (hits of the query) for average precision.
    discounts:   (longest + 1,) D of each rank, 0 beyond k; None for average precision.
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
    ) -> Repeated | None:
        """`measure` on the queries of labels (n_docs,), offsets (n_queries + 1,).

        None for a measure that is none of map, ndcg and ndcg@k.
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
            return Repeated(*shared, 1.0 / relevant[query], None)
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
        return Repeated(*shared, weights, discounts)

    @property
    def n_queries(self) -> int:
        return len(self.offsets) - 1

    def __call__(self, scores: np.ndarray) -> np.ndarray:
        """(n_docs,) scores in file order -> (n_queries,) float64, 0 where nothing is relevant.

        DataError for NaN scores and for another number of them.
        """
        scores = np.require(scores, np.float64, ["C", "W"])
        if scores.shape != (self.offsets[-1],):
            raise DataError(f"found {len(scores)} scores, expected {self.offsets[-1]}")
        if np.isnan(scores.sum()) and np.isnan(scores).any():
            raise DataError("scores: found NaN, expected numbers")
        ranks = np.empty(len(self.hits), dtype=np.int64)

        def part(start: int, stop: int) -> None:
            own = slice(start, stop + 1)
            relevant_ranks(scores, self.offsets[own], self.hits, self.hit_offsets[own], ranks)

        in_threads(part, self.n_queries, max(1, LEAST * self.n_queries // max(1, len(scores))))
        terms = self._precisions(ranks) if self.discounts is None else self.discounts[ranks]
        return np.bincount(self.query, self.weights * terms, self.n_queries)

    def _precisions(self, ranks: np.ndarray) -> np.ndarray:
        """(n_hits,) P@rank of every hit, each query's in rank order."""
        shift = self.query * (int(ranks.max(initial=0)) + 1)
        ordered = np.sort(shift + ranks) - shift
        count = np.arange(1, len(ranks) + 1) - self.hit_offsets[self.query]
        return count / ordered
