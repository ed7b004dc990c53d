"""Reciprocal rank, whose mean over queries is MRR."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings


def reciprocal_rank(rankings: Rankings, k: int | None) -> np.ndarray:
    """1 / (the rank of the first relevant document).

    Voorhees 1999, "The TREC-8 question answering track report". Relevant is r >= 1, in
    `mslr` r >= 2.

    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    values = np.zeros(len(rankings.relevant))
    some = rankings.relevant > 0
    values[some] = 1.0 / rankings.hit_ranks[rankings.hit_offsets[:-1][some]]
    return values


MRR = Measure(
    "MRR", "mrr", reciprocal_rank, "none",
    "reciprocal rank of the first relevant document",
)  # fmt: skip
