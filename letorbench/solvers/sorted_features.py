"""Features' documents sorted by value once, in coarse bins: what `best_of_all` searches."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import numpy as np

from letorbench.features.moments import contiguous_columns
from letorbench.jit import kernel
from letorbench.models.base import float32_features
from letorbench.solvers.radix_sort import sorted_column
from letorbench.solvers.stump_search import GROUP, Stump
from letorbench.threads import run_tasks

#: the most coarse bins of a feature: their numbers take one byte
COARSE = 256
#: the bit of an entry of `SortedDocuments.rows` that says: the next document's value is larger
CUT = np.uint32(1 << 31)
ROW = np.uint32(CUT - 1)


class SortedDocuments(NamedTuple):
    """Each feature's documents in the order of their values, and in coarse bins.

    Attributes
    ----------
    rows : ndarray of shape (n_features, n_docs), uint32
        The documents in the order of a feature's values, equal values by row, with `CUT` where
        the next value is larger.
    codes : ndarray of shape (n_features, n_docs), uint8
        Each document's coarse bin. No value is in two bins.
    starts : ndarray of shape (n_features, COARSE + 1), int64
        rows[k, starts[k, c]:starts[k, c + 1]] are the documents of feature k's coarse bin c. Bins
        that are not there are empty and come last.
    several : ndarray of shape (n_features, COARSE), bool
        Whether a coarse bin has more than one value.
    n_values : ndarray of shape (n_features,), int64
        How many distinct values each feature has.
    """

    rows: np.ndarray
    codes: np.ndarray
    starts: np.ndarray
    several: np.ndarray
    n_values: np.ndarray


@dataclass(frozen=True, eq=False)
class SortedFeatures:
    """Features (n_docs, n_features), float32, and their sorted documents."""

    features: np.ndarray
    documents: SortedDocuments

    @staticmethod
    def of(features: np.ndarray) -> SortedFeatures:
        """Sort features (n_docs, n_features) of any real type, as float32."""
        features = float32_features(features)
        n_docs, n_features = features.shape
        documents = SortedDocuments(
            np.empty((n_features, n_docs), np.uint32),
            np.empty((n_features, n_docs), np.uint8),
            np.empty((n_features, COARSE + 1), np.int64),
            np.empty((n_features, COARSE), np.bool_),
            np.empty(n_features, np.int64),
        )
        groups = range(0, n_features, GROUP)
        run_tasks([partial(_sort, features, first, documents) for first in groups])
        return SortedFeatures(features, documents)

    def stump(self, k: int, cut: int, above: bool) -> tuple[Stump, np.ndarray]:
        """Return the stump of feature k at its cut of that number, and its values (n_docs,)."""
        rows, starts = self.documents.rows[k], self.documents.starts[k]
        last = _last_below(rows, cut)
        low, high = self.features[rows[last : last + 2] & ROW, k]
        coarse = int(np.searchsorted(starts, last, side="right")) - 1
        values = self.documents.codes[k] > coarse
        values[rows[last + 1 : starts[coarse + 1]] & ROW] = True
        return Stump(k, float((np.float64(low) + high) / 2.0), above), values == above


def _sort(features: np.ndarray, first: int, documents: SortedDocuments) -> None:
    """Fill the documents' part of `GROUP` features."""
    for k, column in enumerate(contiguous_columns(features, first, first + GROUP), first):
        values, documents.rows[k] = sorted_column(column + 0.0)  # -0.0 becomes 0.0
        documents.n_values[k] = _mark_cuts(values, documents.rows[k])
        _coarse_bins(
            documents.rows[k], documents.codes[k], documents.starts[k], documents.several[k]
        )


@kernel()
def _mark_cuts(values: np.ndarray, rows: np.ndarray) -> int:
    """Set `CUT` in the rows of a sorted column's values; return how many distinct values it has."""
    n_values = 1
    for p in range(len(rows) - 1):
        if values[p] != values[p + 1]:
            rows[p] |= CUT
            n_values += 1
    return n_values


@kernel()
def _coarse_bins(
    rows: np.ndarray, codes: np.ndarray, starts: np.ndarray, several: np.ndarray
) -> None:
    """Fill a feature's part of `SortedDocuments` from its rows.

    Each value has a bin, where there are so few; else bins have 1 / COARSE of the documents, where
    that is enough, and else twice as many: any two neighbours then have more, so it is enough.
    """
    for share in range(3):
        if _cut_at(rows, (share * len(rows) + COARSE - 1) // COARSE, starts):
            break
    for c in range(COARSE):
        several[c] = False
        for p in range(starts[c], starts[c + 1]):
            codes[rows[p] & ROW] = c
            if rows[p] & CUT and p + 1 < starts[c + 1]:
                several[c] = True


@kernel()
def _cut_at(rows: np.ndarray, size: int, starts: np.ndarray) -> bool:
    """Fill starts for bins of at most `size` documents or one value; return if COARSE suffice."""
    n, c, value = len(rows), 0, 0
    starts[0] = 0
    for p in range(n):
        if rows[p] & CUT or p == n - 1:  # the last document of the value that begins at `value`
            if p + 1 - starts[c] > size and value > starts[c]:
                c += 1
                if c == COARSE:
                    return False
                starts[c] = value
            value = p + 1
    starts[c + 1 :] = n
    return True


@kernel()
def _last_below(rows: np.ndarray, cut: int) -> int:
    """Return the position in rows of the cut of that number."""
    for p in range(len(rows)):
        if rows[p] & CUT:
            if cut == 0:
                return p
            cut -= 1
    return -1
