"""AUC: the area under the ROC curve of relevant against irrelevant documents."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def area_under_roc(rankings: Rankings, k: int | None) -> np.ndarray:
    """#{(i, j): i relevant, j not, i ranked above j} / #{(i, j): i relevant, j not}.

    W. Zhang's lecture of 2018 names it for pairwise approaches. Relevant is r >= 1, in `mslr`
    r >= 2; with two labels it is `pairwise`, the share of the pairs in the right order.

    Ties: file order, so a tied pair is right or wrong, never half. No relevant document, or no
    other: 0. The whole list counts, however short.
    """
    R = rankings.relevant
    N = rankings.lengths - R
    # of the documents behind a relevant one, those that are not relevant themselves
    behind = np.repeat(rankings.lengths, R) - rankings.hit_ranks
    below = behind - (np.repeat(R, R) - rankings.hit_counts)
    return ratio(rankings.sums(below.astype(np.float64), rankings.hit_offsets), R * N)


AUC = Measure(
    "AUC", "auc", area_under_roc, "none",
    "share of the pairs of a relevant and an irrelevant document in the right order",
)  # fmt: skip
