"""ERR@k: the expected reciprocal rank at which a reader stops."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings


def err(rankings: Rankings, k: int | None) -> np.ndarray:
    """sum_{i <= k} (1/i) R(r_i) prod_{j < i} (1 - R(r_j)), R(r) = (2^r - 1) / 2^{r_max}.

    Chapelle, Metzler, Zhang & Grinspan 2009, eqs. 4 and 5. r_max is the convention's
    `max_label`, or the largest label measured where that is larger or not given. Without
    k, the whole list.

    Ties: file order. No relevant document (all r = 0): 0. A list shorter than k: its sum.
    """
    return rankings.at(rankings.err, k)


ERR = Measure(
    "ERR", "err", err, "optional",
    "expected reciprocal rank of the document that satisfies, down to k",
)  # fmt: skip
