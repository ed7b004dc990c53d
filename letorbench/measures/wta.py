"""WTA: winner takes all."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings


def winner_takes_all(rankings: Rankings, k: int | None) -> np.ndarray:
    """1 where the document at rank 1 is relevant, else 0.

    Burges, Ragno & Le 2006, section 2 (there as a cost: 1 minus this). Relevant is r >= 1,
    in `mslr` r >= 2.

    Ties: file order. No relevant document: 0. A list has no other length than its own.
    """
    return rankings.hits_within(1).astype(np.float64)


WTA = Measure(
    "WTA", "wta", winner_takes_all, "none",
    "winner takes all: 1 where the first document is relevant",
)  # fmt: skip
