"""A query set's documents sorted by label: the view that the pair kernels read."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.arrays import read_only


class LabelBlocks(NamedTuple):
    """Each query's documents sorted by label, the highest first, as runs of one label.

    A query's pairs (i, j) with r_i > r_j are then rectangles: a block times the later blocks
    of its query. A named tuple of arrays can be passed to a compiled kernel whole.

    Attributes
    ----------
    order : ndarray of shape (n_docs,), int64
        The row in file order at each sorted position, stable within a label.
    starts : ndarray of shape (n_blocks + 1,), int64
        Block b owns the sorted positions starts[b]:starts[b + 1].
    labels : ndarray of shape (n_blocks,), int64
        The one label of each block.
    queries : ndarray of shape (n_queries + 1,), int64
        Query q owns the blocks queries[q]:queries[q + 1].
    offsets : ndarray of shape (n_queries + 1,), int64
        Query q owns the sorted positions offsets[q]:offsets[q + 1].
    """

    order: np.ndarray
    starts: np.ndarray
    labels: np.ndarray
    queries: np.ndarray
    offsets: np.ndarray

    @staticmethod
    def of(labels: np.ndarray, offsets: np.ndarray) -> LabelBlocks:
        """Sort the documents of each query by label.

        Parameters
        ----------
        labels : ndarray of shape (n_docs,), integer
        offsets : ndarray of shape (n_queries + 1,), int64
        """
        n_queries = len(offsets) - 1
        query = np.repeat(np.arange(n_queries), np.diff(offsets))
        levels = int(labels.max(initial=0)) + 1
        key = query * levels + (levels - 1 - labels.astype(np.int64))
        order = np.argsort(key, kind="stable")
        key = key[order]
        first = np.flatnonzero(np.diff(key, prepend=-1))
        block_query, inverse = np.divmod(key[first], levels)
        blocks = (
            order,
            np.append(first, len(labels)).astype(np.int64),
            levels - 1 - inverse,
            np.searchsorted(block_query, np.arange(n_queries + 1)).astype(np.int64),
            offsets,
        )
        return LabelBlocks(*map(read_only, blocks))
