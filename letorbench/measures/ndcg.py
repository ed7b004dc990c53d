"""NDCG@k: normalised discounted cumulative gain down to rank k, gain 2^r - 1."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def ndcg(rankings: Rankings, k: int | None) -> np.ndarray:
    """sum_{i <= k} (2^{r_i} - 1) D(i), over its largest value for the query's labels.

    Järvelin & Kekäläinen 2002, with Burges et al. 2005's gain. Without k, the whole list.

    Ties: file order. No relevant document: 0. A list shorter than k: 0 in the LETOR tools,
    the value of the whole list in `standard`.
    """
    values = ratio(rankings.at(rankings.dcg, k), rankings.at(rankings.ideal_dcg, k))
    if k is not None and not rankings.convention.short_ndcg:
        values[rankings.lengths < k] = 0.0
    return values


nDCG = Measure(
    "nDCG", "ndcg", ndcg, "optional",
    "normalised discounted cumulative gain down to rank k",
)  # fmt: skip
