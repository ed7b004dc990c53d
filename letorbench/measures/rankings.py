"""The ranked labels of all queries at once, with what several measures share."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from letorbench.conventions import LARGEST_EXPONENT, Convention, gains
from letorbench.jit import kernel


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
    groups : ndarray of shape (n_groups + 1,), int64, optional
        Where equal scores count by the mean over their orders: the documents of one query and
        one score are ``labels[groups[g]:groups[g + 1]]``.
    scores : ndarray of shape (n_docs,), float64, optional
        In rank order, for measures of the scores themselves.

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
    groups: np.ndarray | None = None
    scores: np.ndarray | None = None

    @staticmethod
    def of(
        labels: np.ndarray, scores: np.ndarray, offsets: np.ndarray, convention: Convention
    ) -> Rankings:
        """Rank labels (n_docs,) by falling scores (n_docs,) without NaN, ties by convention."""
        offsets = np.require(offsets, np.int64, ["C", "W"])
        labels, groups = np.asarray(labels, dtype=np.int32), None
        if convention.ties in ("file", "mean"):
            order = rank(scores, offsets)
        else:
            among = {"last": -np.arange(len(labels)), "best": -labels, "worst": labels}
            order = np.lexsort((among[convention.ties], -scores, owner(offsets)))
        ranked = np.asarray(scores)[order]
        if convention.ties == "mean":
            starts = np.flatnonzero(np.append(True, ranked[1:] != ranked[:-1]))
            groups = np.union1d(starts[: len(labels)], offsets)
        return Rankings(labels[order], offsets, convention, groups, ranked)

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
        if self.groups is None:
            return self.running(self._terms(self.labels))
        gains = self.mean_of_group(self.convention.gains(self.levels)[self.labels])
        discounts = self.convention.discounted(np.arange(1, self.lengths.max(initial=0) + 1))
        return self.running(gains * discounts[self.ranks - 1])

    @cached_property
    def ideal_dcg(self) -> np.ndarray:
        """(n_docs,) float64: the largest DCG that the query's labels allow down to it."""
        of_query = owner(self.offsets) * self.levels
        best = of_query - np.sort(of_query - self.labels)  # each query's labels, the largest first
        return self.running(self._terms(best))

    @cached_property
    def err(self) -> np.ndarray:
        """(n_docs,) float64: expected reciprocal rank down to each rank position."""
        r_max = max(self.convention.max_label or 0, self.levels - 1)
        return _running_err(
            self.labels, self.offsets, (2.0 ** np.arange(self.levels) - 1) / 2**r_max
        )

    @cached_property
    def ranks(self) -> np.ndarray:
        """(n_docs,) int64: the rank, from 1, of each position."""
        return np.arange(1, len(self.labels) + 1) - np.repeat(self.offsets[:-1], self.lengths)

    @cached_property
    def hits(self) -> np.ndarray:
        """(n_hits,) int64: the rank positions that hold relevant documents, ascending."""
        return np.flatnonzero(self.hit)

    @property
    def hit(self) -> np.ndarray:
        """(n_docs,) bool: whether the document at each position is relevant."""
        return self.labels >= self.convention.relevant

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
        """(n_queries,): relevant documents at the ranks 1 .. k."""
        if self.groups is not None:
            return self.at(self.running(self.mean_of_group(self.hit.astype(np.float64))), k)
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
        return np.bincount(owner(offsets), values, len(offsets) - 1)

    def running(self, values: np.ndarray) -> np.ndarray:
        """(n_docs,) float64: each query's values added from its first rank down."""
        return _running_sums(np.require(values, np.float64, ["C", "W"]), self.offsets)

    def mean_of_group(self, values: np.ndarray) -> np.ndarray:
        """(n_docs,) float64: each value's mean over the documents of its score."""
        assert self.groups is not None
        sizes = np.diff(self.groups)
        return np.repeat(self.sums(values, self.groups) / np.maximum(sizes, 1), sizes)

    def share(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """above / below, (n_queries,); what an empty query counts where below is 0."""
        values = ratio(above, below)
        return np.where(below == 0, 1.0, values) if self.convention.empty == "1" else values

    def zero_if_short(self, values: np.ndarray, k: int | None) -> np.ndarray:
        """(n_queries,) values, with 0 for a list shorter than k."""
        return values if k is None else np.where(self.lengths < k, 0.0, values)

    @cached_property
    def correct_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_queries,) float64 twice: pairs of different labels ranked right, and all of them."""
        correct, pairs = np.zeros((2, len(self.lengths)))
        for label in range(1, self.levels):
            here = self.labels == label
            before = np.append(0, np.cumsum(self.labels < label))  # lower labels above a position
            below = np.repeat(before[self.offsets[1:]], self.lengths) - before[1:]
            correct += self.sums(here * below, self.offsets)
            pairs += self.sums(here, self.offsets) * np.diff(before[self.offsets])
        return correct, pairs

    def _terms(self, labels: np.ndarray) -> np.ndarray:
        """(n_docs,) float64: what labels (n_docs,) add to DCG, one at each rank position."""
        if self.levels > LARGEST_EXPONENT + 1:  # too many for a table
            return self.convention.discounted(self.ranks, gains(labels, self.convention.gain))
        longest = int(self.lengths.max(initial=0))
        return discounted_gains(self.convention, longest, self.levels)[self.ranks - 1, labels]


@lru_cache(maxsize=64)
def discounted_gains(convention: Convention, longest: int, levels: int) -> np.ndarray:
    """(longest, levels) float64: a label's gain at a rank; kept for boosting's many calls."""
    rank = np.arange(1, longest + 1)
    return np.ascontiguousarray(convention.discounted(rank[:, None], convention.gains(levels)))


def owner(offsets: np.ndarray) -> np.ndarray:
    """(offsets[-1],) int64: which query, or group of equal scores, each row belongs to."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


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
    return np.lexsort((-np.asarray(scores), owner(offsets)))


@kernel()
def _running_sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return at each position the sum of the values down to it, in its own query."""
    sums = np.empty(len(values))
    for q in range(len(offsets) - 1):
        total = 0.0
        for p in range(offsets[q], offsets[q + 1]):
            total += values[p]
            sums[p] = total
    return sums


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
