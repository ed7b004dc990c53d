"""The ranked labels of all queries at once, with the parts that several measures share."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.conventions import LARGEST_EXPONENT, Convention, gains
from letorbench.errors import DataError

#: the most different labels for which each value gets a count
MOST_LEVELS = 4096


@dataclass(frozen=True, eq=False)
class Rankings:
    """Every query's labels in rank order, one query after another.

    Cached values are per rank position (n_docs,) or per query (n_queries,). Sums run from the first
    rank down, since the official tools add in this order and every digit must agree.
    """

    labels: np.ndarray  # (n_docs,) int32; query q's ranking is labels[offsets[q]:offsets[q + 1]]
    offsets: np.ndarray  # (n_queries + 1,) int64
    convention: Convention
    # (n_groups + 1,), with ties=mean: labels[groups[g]:groups[g + 1]] have one query and score
    groups: np.ndarray | None = None
    scores: np.ndarray | None = None  # (n_docs,) float64, in rank order
    # (n_docs,) bool, all if None; documents that are not judged have the label 0
    judged: np.ndarray | None = None
    # labels and offsets of all judged documents, ranked or not, if these differ from the above
    all_judged: tuple[np.ndarray, np.ndarray] | None = None
    # labels, scores and offsets in file order, and the row of each rank position
    file_order: tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray] | None = None

    @staticmethod
    def of(
        labels: np.ndarray,
        scores: np.ndarray,
        offsets: np.ndarray,
        convention: Convention,
        docids: np.ndarray | None = None,
    ) -> Rankings:
        """Rank labels (n_docs,) by falling scores (n_docs,) without NaN, ties by the convention.

        A label below 0 marks a document that is not judged, a score of -inf one not retrieved.
        """
        offsets = np.require(offsets, np.int64, ["C", "W"])
        labels, scores, depth = np.asarray(labels, np.int32), np.asarray(scores), convention.depth
        judged, retrieved, all_judged = labels >= 0, scores > -np.inf, None
        scores = compared(scores, convention)
        file, rows = (labels, scores, offsets), None
        if convention.ties == "docid":
            docids = document_ids(docids, offsets)
        if depth or not (judged.all() and retrieved.all()):
            all_judged = labels[judged], kept_offsets(judged, offsets)
            rows = np.flatnonzero(
                retrieved & judged if convention.unjudged == "drop" else retrieved
            )
            offsets = np.searchsorted(rows, offsets)
            labels, scores, judged = np.maximum(labels[rows], 0), scores[rows], judged[rows]
            docids = None if docids is None else docids[rows]
        order = rows_in_order(labels, scores, offsets, convention.ties, docids)
        if depth:
            high = np.arange(len(order)) - np.repeat(offsets[:-1], np.diff(offsets)) < depth
            order, offsets = order[high], kept_offsets(high, offsets)
        ranked, file_order = scores[order], (*file, order if rows is None else rows[order])
        groups = score_groups(ranked, offsets) if convention.ties == "mean" else None
        known = judged[order] if all_judged is not None else None
        return Rankings(
            labels[order], offsets, convention, groups, ranked, known, all_judged, file_order
        )

    def reordered(self, order: np.ndarray) -> Rankings:
        """Return the rankings with the documents at these positions, no longer as groups."""
        judged = None if self.judged is None else self.judged[order]
        return replace(self, labels=self.labels[order], judged=judged, groups=None, file_order=None)

    @property
    def in_file_order(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Labels and scores of the judged or ranked documents in file order, and offsets."""
        if self.file_order is None:
            assert self.scores is not None
            return self.labels, self.scores, self.offsets
        labels, scores, offsets, ranked = self.file_order
        # documents that are not ranked have -inf
        seen = np.full(len(scores), -np.inf)
        seen[ranked] = scores[ranked]
        kept = (labels >= 0) | (seen > -np.inf)
        return np.maximum(labels, 0)[kept], seen[kept], kept_offsets(kept, offsets)

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
        gained = self.mean_of_group(gains(self.labels, self.convention.gain))
        discounts = self.convention.discounted(np.arange(1, self.lengths.max(initial=0) + 1))
        return self.running(gained * discounts[self.ranks - 1])

    @cached_property
    def ideal(self) -> Rankings:
        """Each query's judged documents, the largest label first."""
        labels, offsets = self.all_judged or (self.labels, self.offsets)
        best = np.empty_like(labels)
        for alike in rows_by_length(offsets):
            best[alike] = np.sort(labels[alike], axis=1)[:, ::-1]
        return Rankings(best, offsets, self.convention)

    def ideal_dcg(self, k: int | None = None) -> np.ndarray:
        """(n_queries,) float64: the largest DCG@k that the query's labels allow."""
        return self.ideal.at(self.ideal.dcg, k)

    @cached_property
    def stops(self) -> np.ndarray:
        """(levels,) float64: ERR's R(r) = (2^r - 1) / 2^r_max of each label."""
        r_max, largest = self.convention.r_max, self.levels - 1
        # with max_label the tool computes larger labels, as far as its integers reach
        if largest > (max(r_max, LARGEST_EXPONENT) if self.convention.max_label else r_max):
            raise DataError(
                f"labels: found {largest}, expected at most {r_max}, the largest label of ERR; "
                f"{self.convention.name},max_label={largest} takes larger ones"
            )
        return 2.0 ** (np.arange(self.levels) - r_max) - 2.0**-r_max

    @cached_property
    def err(self) -> np.ndarray:
        """(n_docs,) float64: expected reciprocal rank down to each rank position."""
        return _running_err(self.labels, self.offsets, self.stops)

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
    def retrieved_relevant(self) -> np.ndarray:
        """(n_queries,) int64: relevant documents of each query's ranking."""
        return np.diff(self.hit_offsets)

    @cached_property
    def relevant(self) -> np.ndarray:
        """(n_queries,) int64: relevant documents of each query, ranked or not."""
        if self.all_judged is None:
            return self.retrieved_relevant
        return np.diff(
            kept_offsets(self.all_judged[0] >= self.convention.relevant, self.all_judged[1])
        )

    @cached_property
    def irrelevant(self) -> np.ndarray:
        """(n_queries,) int64: judged documents of each query that are not relevant."""
        return (
            np.diff(self.offsets if self.all_judged is None else self.all_judged[1]) - self.relevant
        )

    @cached_property
    def misses(self) -> np.ndarray:
        """(n_docs + 1,) int64: judged documents that are not relevant before each position."""
        miss = ~self.hit if self.judged is None else self.judged & ~self.hit
        return np.append(0, np.cumsum(miss))

    @cached_property
    def hit_ranks(self) -> np.ndarray:
        """(n_hits,) int64: the rank, from 1, of each relevant document."""
        return self.hits - np.repeat(self.offsets[:-1] - 1, self.retrieved_relevant)

    @cached_property
    def hit_counts(self) -> np.ndarray:
        """(n_hits,) int64: relevant documents of the query down to this one, itself included."""
        return np.arange(len(self.hits)) - np.repeat(
            self.hit_offsets[:-1] - 1, self.retrieved_relevant
        )

    def hits_within(self, k: int | np.ndarray) -> np.ndarray:
        """(n_queries,): relevant documents at the ranks 1 .. k; k may differ between queries."""
        if self.groups is not None:
            return self.at(self.running(self.mean_of_group(self.hit.astype(np.float64))), k)
        ends = self.offsets[:-1] + np.minimum(self.lengths, k)
        return np.searchsorted(self.hits, ends) - self.hit_offsets[:-1]

    def at(self, values: np.ndarray, k: int | np.ndarray | None = None) -> np.ndarray:
        """(n_docs,) values -> (n_queries,): at rank k, or at the last rank of a shorter list."""
        rank = self.lengths if k is None else np.minimum(self.lengths, k)
        if len(values) == 0:
            return np.zeros(len(rank))
        # an empty query has no rank to read: its 0 replaces whatever stands there
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

    def fraction(self, above: np.ndarray, below: np.ndarray) -> np.ndarray:
        """above / below, (n_queries,); if below is 0, the convention's value of an empty query."""
        values = ratio(above, below)
        return np.where(below == 0, 1.0, values) if self.convention.empty == "1" else values

    def zero_if_short(self, values: np.ndarray, k: int | None) -> np.ndarray:
        """(n_queries,) values, with 0 for a list shorter than k."""
        return values if k is None else np.where(self.lengths < k, 0.0, values)

    @property
    def correct_pairs(self) -> tuple[np.ndarray, np.ndarray]:
        """(n_queries,) int64 twice: pairs of different labels ranked right, and all pairs."""
        right, wrong, _ = self.pairs(np.arange(len(self.labels) + 1))
        return right, right + wrong

    def pairs(self, groups: np.ndarray) -> np.ndarray:
        """(3, n_queries) int64: pairs in the right order, in the wrong one, of equal labels."""
        # a pair within one of the groups has no order
        labels, levels = self.labels, self.levels
        if levels > MOST_LEVELS:
            values, labels = np.unique(labels, return_inverse=True)
            levels = len(values)
        return _pairs(labels.astype(np.int64), self.offsets, groups, levels)

    def _terms(self, labels: np.ndarray) -> np.ndarray:
        """(n_docs,) float64: the terms of DCG of labels (n_docs,), one at each rank position."""
        if self.levels > LARGEST_EXPONENT + 1:  # too many for a table
            return self.convention.discounted(self.ranks, gains(labels, self.convention.gain))
        longest = int(self.lengths.max(initial=0))
        return discounted_gains(self.convention, longest, self.levels)[self.ranks - 1, labels]


@lru_cache(maxsize=64)
def discounted_gains(convention: Convention, longest: int, levels: int) -> np.ndarray:
    """(longest, levels) float64: a label's gain at a rank; cached for boosting's many calls."""
    rank = np.arange(1, longest + 1)
    return np.ascontiguousarray(convention.discounted(rank[:, None], convention.gains(levels)))


def owner(offsets: np.ndarray) -> np.ndarray:
    """(offsets[-1],) int64: the query, or the group of equal scores, of each row."""
    return np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))


def kept_offsets(kept: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """(n_queries + 1,) int64: the offsets of the rows that are kept, (n_docs,) bool."""
    return np.append(0, np.cumsum(kept))[offsets]


def positions(offsets: np.ndarray, first: int = 1) -> np.ndarray:
    return (np.arange(offsets[-1]) - np.repeat(offsets[:-1], np.diff(offsets)) + first).astype("S")


def document_ids(docids: np.ndarray | None, offsets: np.ndarray) -> np.ndarray:
    """(n_docs,) bytes: each document's id, or its position, from 1, if it has none."""
    places = positions(offsets)
    return places if docids is None else np.where(docids == b"", places, docids)


def compared(scores: np.ndarray, convention: Convention) -> np.ndarray:
    """(n_docs,): the scores in the convention's precision."""
    if convention.scores == "float64":
        return scores
    with np.errstate(over="ignore"):
        return scores.astype(np.float32).astype(np.float64)


def score_groups(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """(n_groups + 1,) int64: the starts of equal scores in rank order, per query, and the end."""
    starts = np.flatnonzero(np.append(True, scores[1:] != scores[:-1]))
    return np.union1d(starts[: len(scores)], offsets)


def ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.divide(above, below, out=np.zeros(len(above)), where=below != 0)


def rank(scores: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return the rows in rank order, query by query, (n_docs,) int64; ties keep their order."""
    return _sorted_rows(offsets, -np.asarray(scores))


def _sorted_rows(offsets: np.ndarray, *keys: np.ndarray) -> np.ndarray:
    """Sort every query's rows by the keys (n_docs,); the last key counts first."""
    rows = np.empty(offsets[-1], np.int64)
    for alike in rows_by_length(offsets):
        order = np.lexsort([key[alike] for key in keys], axis=1)
        rows[alike] = np.take_along_axis(alike, order, axis=1)
    return rows


def rows_by_length(offsets: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the rows of all queries of each length, (n_queries_of_this_length, length)."""
    # sorting lists of equal length together takes a quarter of the time of one sort of all rows
    lengths = np.diff(offsets)
    for length in np.unique(lengths):
        yield offsets[:-1][lengths == length, None] + np.arange(length)


def rows_in_order(
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    ties: str,
    docids: np.ndarray | None,
) -> np.ndarray:
    """Return the rows in rank order, (n_docs,) int64; `ties` is a convention's rule."""
    if ties in ("file", "mean"):
        return rank(scores, offsets)
    if ties == "docid":
        assert docids is not None
        among = -np.unique(docids, return_inverse=True)[1]
    else:
        among = {"last": -np.arange(len(labels)), "best": -labels, "worst": labels}[ties]
    return _sorted_rows(offsets, among, -scores)


@kernel()
def _pairs(labels: np.ndarray, offsets: np.ndarray, groups: np.ndarray, levels: int) -> np.ndarray:
    """Count each query's pairs; a Fenwick tree counts the labels above (Fenwick 1994)."""
    counts = np.zeros((3, len(offsets) - 1), dtype=np.int64)
    tree = np.zeros(levels + 1, dtype=np.int64)
    g = 0
    for q in range(len(offsets) - 1):
        tree[:] = 0
        while groups[g] < offsets[q + 1]:
            for p in range(groups[g], groups[g + 1]):
                below, upto = _seen(tree, labels[p]), _seen(tree, labels[p] + 1)
                counts[0, q] += groups[g] - offsets[q] - upto
                counts[1, q] += below
            for p in range(groups[g], groups[g + 1]):
                counts[2, q] += _seen(tree, labels[p] + 1) - _seen(tree, labels[p])
                place = labels[p] + 1
                while place <= levels:
                    tree[place] += 1
                    place += place & -place
            g += 1
    return counts


@kernel()
def _seen(tree: np.ndarray, level: int) -> int:
    """Return how many documents with a label below the level are in the tree."""
    total = 0
    while level > 0:
        total += tree[level]
        level -= level & -level
    return total


@kernel()
def _running_sums(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return at each position the sum of its query's values down to it."""
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
