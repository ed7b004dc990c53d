"""MeanNDCG: the mean of NDCG@k over k = 1 .. the length of the query's own list."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def mean_ndcg(rankings: Rankings, k: int | None) -> np.ndarray:
    """(1/m) sum_{k = 1..m} NDCG@k.

    As the LETOR 4.0 evaluation tool prints it (Qin & Liu 2013, "Introducing LETOR 4.0").

    Ties: file order. No relevant document: 0. No list is shorter than its own length.
    """
    return ratio(rankings.sums(rankings.ndcg, rankings.offsets), rankings.lengths)


MeanNDCG = Measure(
    "MeanNDCG", "mean-ndcg", mean_ndcg, "none",
    "mean of NDCG@k over every rank k of the list",
)  # fmt: skip
