"""Average precision, whose mean over queries is MAP."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def average_precision(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/R) sum over the relevant documents, R of them, of P@(their rank).

    Manning, Raghavan & Schütze 2008, section 8.4. Relevant is r >= 1, in `mslr` r >= 2.

    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    precisions = rankings.hit_counts / rankings.hit_ranks
    return ratio(rankings.sums(precisions, rankings.hit_offsets), rankings.relevant)


MAP = Measure(
    "MAP", "map", average_precision, "none",
    "average precision: the mean of P@rank over the relevant documents",
)  # fmt: skip
