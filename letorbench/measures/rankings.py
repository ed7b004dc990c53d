"""The ranked labels of all queries at once, with what several measures share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.arrays import EXPECTED_LABEL, LARGEST_LABEL
from letorbench.errors import DataError
from letorbench.jit import kernel
from letorbench.measures.sorting import rank


@dataclass(frozen=True, eq=False)
class Rankings:
    """Every query's labels in rank order, one query after another.

    Cached values are per rank position (n_docs,) or per query (n_queries,). Sums run from the
    first rank down, because the official tools add in this order and their digits must come
    out.

    Parameters
    ----------
    labels : ndarray of shape (n_docs,), int32
        Query q's ranking is ``labels[offsets[q]:offsets[q + 1]]``.
    offsets : ndarray of shape (n_queries + 1,), int64
    convention : Convention
        The rules that the measures follow.

    Examples
    --------
    >>> import numpy as np
    >>> from letorbench.conventions import convention
    >>> from letorbench.measures import MAP, P
    >>> labels, scores = np.array([0, 1, 0, 1]), np.array([4.0, 3.0, 2.0, 1.0])
    >>> rankings = Rankings.of(labels, scores, np.array([0, 4]), convention("standard"))
    >>> MAP(rankings), (P @ 2)(rankings)
    (array([0.5]), array([0.5]))
    """

    labels: np.ndarray
    offsets: np.ndarray
    convention: Convention

    @staticmethod
    def of(
        labels: np.ndarray, scores: np.ndarray, offsets: np.ndarray, convention: Convention
    ) -> Rankings:
        """Rank by falling score, ties in file order.

        Parameters
        ----------
        labels : ndarray of shape (n_docs,), integers >= 0
            In file order.
        scores : ndarray of shape (n_docs,)
            In file order, without NaN.
        offsets : ndarray of shape (n_queries + 1,), int64
        convention : Convention

        Returns
        -------
        Rankings
        """
        offsets = np.require(offsets, np.int64, ["C", "W"])
        order = rank(scores, offsets)
        return Rankings(np.asarray(labels, dtype=np.int32)[order], offsets, convention)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n_queries,) int64: documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def levels(self) -> int:
        """One more than the largest label."""
        return int(self.labels.max(initial=0)) + 1

    @cached_property
    def dcg(self) -> np.ndarray:
        """(n_docs,) float64: DCG down to each rank position."""
        return self._running(running_dcg, self._terms)

    @cached_property
    def ideal_dcg(self) -> np.ndarray:
        """(n_docs,) float64: the largest DCG that the query's labels allow down to it."""
        return self._running(running_ideal_dcg, self._terms)

    @cached_property
    def ndcg(self) -> np.ndarray:
        """(n_docs,) float64: DCG over ideal DCG, 0 where no document has a gain."""
        return ratio(self.dcg, self.ideal_dcg)

    @cached_property
    def err(self) -> np.ndarray:
        """(n_docs,) float64: expected reciprocal rank down to each rank position."""
        r = np.arange(self.levels)
        r_max = max(self.convention.max_label or 0, self.levels - 1)
        stop = (2.0**r - 1.0) / 2.0**r_max
        return self._running(running_err, stop)

    @cached_property
    def hits(self) -> np.ndarray:
        """(n_hits,) int64: the rank positions that hold relevant documents, ascending."""
        return np.flatnonzero(self.labels >= self.convention.relevant)

    @cached_property
    def hit_offsets(self) -> np.ndarray:
        """(n_queries + 1,) int64: query q's hits are hits[hit_offsets[q]:hit_offsets[q + 1]]."""
        return np.searchsorted(self.hits, self.offsets).astype(np.int64, copy=False)

    @cached_property
    def relevant(self) -> np.ndarray:
        """(n_queries,) int64: relevant documents of each query."""
        return np.diff(self.hit_offsets)

    @cached_property
    def hit_ranks(self) -> np.ndarray:
        """(n_hits,) int64: the rank, from 1, of each relevant document."""
        return self.hits - np.repeat(self.offsets[:-1] - 1, self.relevant)

    @cached_property
    def hit_counts(self) -> np.ndarray:
        """(n_hits,) int64: relevant documents of the query down to this one, itself included."""
        return np.arange(len(self.hits)) - np.repeat(self.hit_offsets[:-1] - 1, self.relevant)

    def hits_within(self, k: int) -> np.ndarray:
        """(n_queries,) int64: relevant documents at the ranks 1 .. k."""
        ends = self.offsets[:-1] + np.minimum(self.lengths, k)
        return np.searchsorted(self.hits, ends) - self.hit_offsets[:-1]

    def at(self, values: np.ndarray, k: int | None = None) -> np.ndarray:
        """(n_docs,) values -> (n_queries,): at rank k, or at the last where a list is shorter."""
        rank = self.lengths if k is None else np.minimum(self.lengths, k)
        if len(values) == 0:
            return np.zeros(len(rank))
        # an empty query has no rank to read: its 0 is written over whatever is next to it
        return np.where(rank > 0, values[np.maximum(self.offsets[:-1] + rank - 1, 0)], 0.0)

    def sums(self, values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
        """(n_values,) float64 -> (n_queries,): each query's values added from left to right."""
        out = np.empty(len(offsets) - 1)
        segment_sums(values, offsets, out)
        return out

    @cached_property
    def correct_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_queries,) int64 twice: pairs of different labels ranked right, and all of them."""
        correct, pairs = np.empty((2, len(self.lengths)), dtype=np.int64)
        count_correct_pairs(self.labels, self.offsets, self.levels, correct, pairs)
        return correct, pairs

    @cached_property
    def _terms(self) -> np.ndarray:
        """(longest, levels) float64: what a label adds to DCG at a rank."""
        if self.levels - 1 > LARGEST_LABEL:
            raise DataError(f"labels: found {self.levels - 1}, expected {EXPECTED_LABEL}")
        longest = int(self.lengths.max(initial=0))
        return discounted_gains(self.convention.discount, longest, self.levels)

    def _running(self, fill: Callable[..., None], table: np.ndarray) -> np.ndarray:
        out = np.empty(len(self.labels))
        fill(self.labels, self.offsets, table, out)
        return out


@lru_cache(maxsize=64)
def discounted_gains(discount: Callable[..., np.ndarray], longest: int, levels: int) -> np.ndarray:
    """(longest, levels) float64: a label's gain at a rank; kept for boosting's many calls."""
    rank = np.arange(1, longest + 1)
    gains = 2.0 ** np.arange(levels) - 1.0
    return np.ascontiguousarray(discount(rank[:, None], gains))


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below as float64, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


@kernel()
def segment_sums(values, offsets, sums):
    """Write to sums[q] the values of segment q, added from left to right."""
    for q in range(len(offsets) - 1):
        total = 0.0
        for i in range(offsets[q], offsets[q + 1]):
            total += values[i]
        sums[q] = total


@kernel()
def running_dcg(labels, offsets, terms, dcg):
    """Write to dcg[p] the sum of terms[rank, label] down to p, in p's own query."""
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total = 0.0
        for p in range(first, offsets[q + 1]):
            total += terms[p - first, labels[p]]
            dcg[p] = total


@kernel()
def running_ideal_dcg(labels, offsets, terms, dcg):
    """Do as `running_dcg` for the best ranking of each query: its labels in falling order."""
    counts = np.empty(terms.shape[1], dtype=np.int64)
    for q in range(len(offsets) - 1):
        first = offsets[q]
        counts[:] = 0
        for p in range(first, offsets[q + 1]):
            counts[labels[p]] += 1
        total = 0.0
        p = first
        for label in range(len(counts) - 1, -1, -1):
            for _ in range(counts[label]):
                total += terms[p - first, label]
                dcg[p] = total
                p += 1


@kernel()
def running_err(labels, offsets, stop, err):
    """Write to err[p] the sum of (1/rank) stop[label] prod (1 - stop[labels above]) down to p."""
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total, looking = 0.0, 1.0
        for p in range(first, offsets[q + 1]):
            chance = stop[labels[p]]
            total += looking * chance / (p - first + 1)
            looking *= 1.0 - chance
            err[p] = total


@kernel()
def count_correct_pairs(labels, offsets, levels, correct, pairs):
    """Count each query's pairs of different labels, and those with the higher label above."""
    for q in range(len(offsets) - 1):
        ranked = labels[offsets[q] : offsets[q + 1]]
        good, total = 0, 0
        # a pass a label, from the bottom up: branches in a single pass cost three times as much
        for label in range(1, levels):
            lower, same = 0, 0
            for p in range(len(ranked) - 1, -1, -1):
                here = ranked[p] == label
                lower += ranked[p] < label
                same += here
                good += lower if here else 0
            total += same * lower
        correct[q] = good
        pairs[q] = total
