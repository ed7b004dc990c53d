"""P@k: the share of relevant documents among the first k."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings


def precision(rankings: Rankings, k: int) -> np.ndarray:
    """(relevant documents at the ranks 1 .. k) / k.

    Manning, Raghavan & Schütze 2008, section 8.4. Relevant is r >= 1, in `mslr` r >= 2.

    Ties: file order. No relevant document: 0. A list shorter than k: its relevant documents
    over k; in `letor3`, 0 (the 3.0 tool adds nothing to its sum beyond a list's end).
    """
    values = rankings.hits_within(k) / k
    if not rankings.convention.short_p:
        values[rankings.lengths < k] = 0.0
    return values


P = Measure(
    "P", "p", precision, "required",
    "precision: the share of relevant documents among the first k",
)  # fmt: skip
