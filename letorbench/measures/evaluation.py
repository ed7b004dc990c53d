"""From scores in file order to every query's value of every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from letorbench.conventions import Convention
from letorbench.errors import DataError
from letorbench.measures.average_precision import MAP
from letorbench.measures.bpref import BPref
from letorbench.measures.err import ERR
from letorbench.measures.mean_ndcg import MeanNDCG
from letorbench.measures.measure import Measure
from letorbench.measures.mrr import MRR
from letorbench.measures.ndcg import nDCG
from letorbench.measures.pairwise_correct import PairwiseCorrect
from letorbench.measures.precision import P
from letorbench.measures.rankings import Rankings
from letorbench.measures.wta import WTA
from letorbench.threads import parallel_for

#: documents measured at a time: their arrays then stay in the processor's cache, and the
#: memory is used again (fresh pages would take longer than the arithmetic)
BLOCK = 65_536


def query_metrics(
    labels: np.ndarray,
    scores: np.ndarray,
    offsets: np.ndarray,
    measures: Sequence[Measure],
    convention: Convention,
) -> np.ndarray:
    """Measure every query.

    Parameters
    ----------
    labels : ndarray of shape (n_docs,), integers >= 0
        In file order.
    scores : ndarray of shape (n_docs,)
        In file order. Equal scores rank in file order.
    offsets : ndarray of shape (n_queries + 1,)
        Query q owns the rows ``offsets[q]:offsets[q + 1]``.
    measures : sequence of Measure
    convention : Convention
        The measuring rules.

    Returns
    -------
    ndarray of shape (n_queries, n_measures), float64

    Raises
    ------
    DataError
        A score is NaN, or scores, labels and offsets do not fit each other.
    """
    scores = np.require(scores, np.float64, ["C", "W"])
    if not (scores.shape == np.shape(labels) == (offsets[-1],)):
        raise DataError(
            f"found {len(scores)} scores and {len(labels)} labels, expected one of each "
            f"for the {offsets[-1]} documents"
        )
    nan = np.isnan(scores)
    if nan.any():
        raise DataError(f"scores: found NaN for document {nan.argmax() + 1}, expected numbers")
    largest = max(convention.max_label or 0, int(np.max(labels, initial=0)))
    convention = replace(convention, max_label=largest)
    offsets = np.asarray(offsets, dtype=np.int64)
    values = np.empty((len(offsets) - 1, len(measures)))
    bounds = _bounds(offsets)

    def part(start: int, stop: int) -> None:
        for first, last in zip(bounds[start:stop], bounds[start + 1 : stop + 1]):
            rows = slice(offsets[first], offsets[last])
            own = offsets[first : last + 1] - offsets[first]
            rankings = Rankings.of(labels[rows], scores[rows], own, convention)
            for column, measure in enumerate(measures):
                values[first:last, column] = measure(rankings)

    parallel_for(part, len(bounds) - 1)
    return values


def _bounds(offsets: np.ndarray) -> np.ndarray:
    """Return (n_blocks + 1,) int64: the queries at which to cut blocks of about BLOCK rows."""
    n_blocks = max(1, int(offsets[-1]) // BLOCK)
    if n_blocks == 1:
        return np.array([0, len(offsets) - 1])
    rows = int(offsets[-1]) * np.arange(n_blocks) // n_blocks
    return np.unique(np.append(np.searchsorted(offsets, rows), len(offsets) - 1))


def default_measures(convention: Convention) -> list[Measure]:
    """Return what an experiment stores for every query, in this order.

    The cut-offs end where those of the convention's tool end, and at 10.
    """
    cutoffs = range(1, min(convention.cutoffs, 10) + 1)
    return [
        *(nDCG @ k for k in cutoffs),
        *(P @ k for k in cutoffs),
        MAP,
        MRR,
        ERR @ 10,
        MeanNDCG,
        WTA,
        PairwiseCorrect,
        BPref,
    ]
