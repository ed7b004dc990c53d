"""The values that travel: a set of judged queries, a fold of three, a benchmark of folds."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from letorbench.conventions import Convention


@dataclass(frozen=True, eq=False)
class QuerySet:
    """Judged documents grouped by query, rows in file order (ties are broken by it).

    features: (n_docs, n_features) float32, C order.
    labels:   (n_docs,) int32, 0 = irrelevant, larger = more relevant.
    offsets:  (n_queries + 1,) int64; query q owns the rows offsets[q]:offsets[q + 1].
    qids:     (n_queries,) int64.
    docids:   (n_docs,) bytes ("S"), or None where the files name no documents.
    """

    features: np.ndarray
    labels: np.ndarray
    offsets: np.ndarray
    qids: np.ndarray
    docids: np.ndarray | None = None

    @property
    def n_docs(self) -> int:
        return len(self.labels)

    @property
    def n_queries(self) -> int:
        return len(self.qids)

    @property
    def n_features(self) -> int:
        return self.features.shape[1]

    @cached_property
    def lengths(self) -> np.ndarray:
        """(n_queries,) int64: documents of each query."""
        return np.diff(self.offsets)

    @cached_property
    def by_label(self) -> LabelBlocks:
        """The label-sorted view that the pair kernels read; never for ranking or measuring."""
        return LabelBlocks.of(self.labels, self.offsets)

    def queries(self, start: int, stop: int) -> QuerySet:
        """The queries start:stop as views on the same arrays, nothing copied."""
        first, last = self.offsets[start], self.offsets[stop]
        return QuerySet(
            self.features[first:last],
            self.labels[first:last],
            self.offsets[start : stop + 1] - first,
            self.qids[start:stop],
            None if self.docids is None else self.docids[first:last],
        )


class LabelBlocks(NamedTuple):
    """Each query's documents sorted by label, the highest first, as runs of one label.

    A query's pairs (i, j) with r_i > r_j are then rectangles: a block times the later
    blocks of its query.

    order:   (n_docs,) int64; sorted position -> row in file order (stable within a label).
    starts:  (n_blocks + 1,) int64; block b owns the sorted positions starts[b]:starts[b + 1].
    labels:  (n_blocks,) int64; the one label of block b.
    queries: (n_queries + 1,) int64; query q owns the blocks queries[q]:queries[q + 1].
    offsets: (n_queries + 1,) int64; query q owns the sorted positions offsets[q]:offsets[q + 1].

    A named tuple of arrays can be passed to a compiled kernel whole.
    """

    order: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    queries: np.ndarray
    offsets: np.ndarray

    @staticmethod
    def of(labels: np.ndarray, offsets: np.ndarray) -> LabelBlocks:
        n_queries = len(offsets) - 1
        query = np.repeat(np.arange(n_queries), np.diff(offsets))
        levels = int(labels.max(initial=0)) + 1
        key = query * levels + (levels - 1 - labels.astype(np.int64))
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        block_query, inverse = np.divmod(key[first], levels)
        return LabelBlocks(
            order,
            np.append(first, len(labels)).astype(np.int64),
            levels - 1 - inverse,
            np.searchsorted(block_query, np.arange(n_queries + 1)).astype(np.int64),
            offsets,
        )


@dataclass(frozen=True, eq=False)
class Fold:
    """One fold of cross-validation; `number` counts from 1."""

    number: int
    train: QuerySet
    validation: QuerySet
    test: QuerySet


@dataclass(frozen=True, eq=False)
class Benchmark:
    """A data set as an experiment sees it: its folds, its measuring rules, where it is from."""

    name: str
    folds: tuple[Fold, ...]
    convention: Convention
    provenance: dict[str, object]
