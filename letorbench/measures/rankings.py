"""The ranked labels of all queries at once, with what several measures share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from letorbench.conventions import Convention
from letorbench.datasets.arrays import EXPECTED_LABEL
from letorbench.datasets.limits import LARGEST_LABEL
from letorbench.errors import DataError
from letorbench.jit import kernel
from letorbench.threads import parallel_for

#: the smallest number of documents for which another thread pays
LEAST = 20_000
#: lists up to this long are ranked by counting, which is quadratic but vectorises
COUNTED = 256
#: scores that are counted at once; a multiple of what a vector register holds
BLOCK = 16


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
        """Rank labels (n_docs,) by falling scores (n_docs,) without NaN, ties in file order."""
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
        return _running_dcg(self.labels, self.offsets, self._terms)

    @cached_property
    def ideal_dcg(self) -> np.ndarray:
        """(n_docs,) float64: the largest DCG that the query's labels allow down to it."""
        of_query = np.repeat(np.arange(len(self.lengths)) * self.levels, self.lengths)
        best = of_query - np.sort(of_query - self.labels)  # each query's labels, the largest first
        return _running_dcg(best.astype(np.int32), self.offsets, self._terms)

    @cached_property
    def err(self) -> np.ndarray:
        """(n_docs,) float64: expected reciprocal rank down to each rank position."""
        r_max = max(self.convention.max_label or 0, self.levels - 1)
        return _running_err(
            self.labels, self.offsets, (2.0 ** np.arange(self.levels) - 1) / 2**r_max
        )

    @cached_property
    def hits(self) -> np.ndarray:
        """(n_hits,) int64: the rank positions that hold relevant documents, ascending."""
        return np.flatnonzero(self.labels >= self.convention.relevant)

    @cached_property
    def hit_offsets(self) -> np.ndarray:
        """(n_queries + 1,) int64: query q's hits are hits[hit_offsets[q]:hit_offsets[q + 1]]."""
        return np.searchsorted(self.hits, self.offsets)

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
        """(n_values,) -> (n_queries,) float64: each query's values added from left to right."""
        query = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return np.bincount(query, values, len(offsets) - 1)

    def zero_if_short(self, values: np.ndarray, k: int | None) -> np.ndarray:
        """(n_queries,) values, with 0 for a list shorter than k."""
        return values if k is None else np.where(self.lengths < k, 0.0, values)

    @cached_property
    def correct_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_queries,) int64 twice: pairs of different labels ranked right, and all of them."""
        correct, pairs = np.empty((2, len(self.lengths)), dtype=np.int64)
        _count_correct_pairs(self.labels, self.offsets, self.levels, correct, pairs)
        return correct, pairs

    @cached_property
    def _terms(self) -> np.ndarray:
        """(longest, levels) float64: what a label adds to DCG at a rank."""
        if self.levels - 1 > LARGEST_LABEL:
            raise DataError(f"labels: found {self.levels - 1}, expected {EXPECTED_LABEL}")
        longest = int(self.lengths.max(initial=0))
        return discounted_gains(self.convention.discount, longest, self.levels)


@lru_cache(maxsize=64)
def discounted_gains(discount: Callable[..., np.ndarray], longest: int, levels: int) -> np.ndarray:
    """(longest, levels) float64: a label's gain at a rank; kept for boosting's many calls."""
    rank = np.arange(1, longest + 1)
    gains = 2.0 ** np.arange(levels) - 1.0
    return np.ascontiguousarray(discount(rank[:, None], gains))


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    """above / below as float64, 0 where below is 0."""
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


def rank(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Sort every query's documents by falling score; ties keep their order.

    Parameters
    ----------
    scores : ndarray of shape (n_docs,)
        Without NaN.
    offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns the rows ``offsets[q]:offsets[q + 1]``.

    Returns
    -------
    ndarray of shape (n_docs,), int64
        Rows, so that ``labels[rank(scores, offsets)]`` is in rank order, one query after
        another.

    Examples
    --------
    >>> import numpy as np
    >>> rank(np.array([1.0, 3.0, 3.0, 5.0, 7.0]), np.array([0, 3, 5]))
    array([1, 2, 0, 4, 3])
    """
    scores = np.require(scores, np.float64, ["C", "W"])
    offsets = np.require(offsets, np.int64, ["C", "W"])
    order = np.empty(len(scores), dtype=np.int64)

    def part(start: int, stop: int) -> None:
        _rank_by_counting(scores, offsets[start : stop + 1], order)

    n_queries = len(offsets) - 1
    parallel_for(part, n_queries, max(1, LEAST * n_queries // max(1, len(scores))))
    for q in np.flatnonzero(np.diff(offsets) > COUNTED):
        first, last = offsets[q : q + 2]
        order[first:last] = first + np.argsort(-scores[first:last], kind="stable")
    return order


@kernel()
def _rank_by_counting(scores: np.ndarray, offsets: np.ndarray, order: np.ndarray) -> None:
    """Place the documents of each query of up to COUNTED by how many there are above them.

    The scores are padded with minus infinity, which is above nothing, so that the inner loop has
    no remainder. Four documents share each score that is read.
    """
    padded, above = np.empty(COUNTED), np.empty(COUNTED, dtype=np.int64)
    tied = np.empty(COUNTED, dtype=np.int64)
    for q in range(len(offsets) - 1):
        first, n = offsets[q], offsets[q + 1] - offsets[q]
        if n > COUNTED:
            continue
        others = padded[: (n + BLOCK - 1) // BLOCK * BLOCK]
        others[:n], others[n:], tied[:n] = scores[first : first + n], -np.inf, 0
        for i in range(0, n, 4):
            s0, s1, s2, s3 = others[i], others[i + 1], others[i + 2], others[i + 3]
            above0, above1, above2, above3 = 0, 0, 0, 0
            for j in range(len(others)):
                above0 += others[j] > s0
                above1 += others[j] > s1
                above2 += others[j] > s2
                above3 += others[j] > s3
            above[i], above[i + 1], above[i + 2], above[i + 3] = above0, above1, above2, above3
        for i in range(n):
            order[first + above[i] + tied[above[i]]] = first + i
            tied[above[i]] += 1


@kernel()
def _running_dcg(labels: np.ndarray, offsets: np.ndarray, terms: np.ndarray) -> np.ndarray:
    """Return at each position p the sum of terms[rank, label] down to p, in p's own query."""
    dcg = np.empty(len(labels))
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total = 0.0
        for p in range(first, offsets[q + 1]):
            total += terms[p - first, labels[p]]
            dcg[p] = total
    return dcg


@kernel()
def _running_err(labels: np.ndarray, offsets: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """Return at each p the sum of (1/rank) stop[label] prod (1 - stop[labels above]) down to p."""
    err = np.empty(len(labels))
    for q in range(len(offsets) - 1):
        first = offsets[q]
        total, looking = 0.0, 1.0
        for p in range(first, offsets[q + 1]):
            chance = stop[labels[p]]
            total += looking * chance / (p - first + 1)
            looking *= 1.0 - chance
            err[p] = total
    return err


@kernel()
def _count_correct_pairs(
    labels: np.ndarray, offsets: np.ndarray, levels: int, correct: np.ndarray, pairs: np.ndarray
) -> None:
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
