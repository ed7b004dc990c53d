"""bpref: how few irrelevant documents are ranked above the relevant ones."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def bpref(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/R) sum over the relevant documents of 1 - min(irrelevant above, R) / min(R, N).

    Buckley & Voorhees 2004, in trec_eval's form: R relevant documents, N irrelevant ones
    (every document of a list is judged). Relevant is r >= 1, in `mslr` r >= 2; a document
    with none above it counts 1.

    Ties: file order. No relevant document: 0. The whole list counts, however short.
    """
    R = rankings.relevant
    N = rankings.lengths - R
    above = rankings.hit_ranks - rankings.hit_counts
    least = np.repeat(np.minimum(R, N), R)
    losses = ratio(np.minimum(above, np.repeat(R, R)), least)
    return ratio(rankings.sums(1.0 - losses, rankings.hit_offsets), R)


BPref = Measure(
    "BPref", "bpref", bpref, "none",
    "binary preference: few irrelevant documents above the relevant",
)  # fmt: skip
