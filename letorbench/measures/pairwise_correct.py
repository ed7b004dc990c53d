"""Pairwise-correct: the share of pairs in the right order; AUC where labels are binary."""

from __future__ import annotations

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, ratio


def pairwise_correct(rankings: Rankings, k: int | None) -> np.ndarray:
    """#{(i, j): r_i > r_j, i ranked above j} / #{(i, j): r_i > r_j}.

    Burges, Ragno & Le 2006, section 2 ("pair-wise error", 1 minus this). With two labels it
    is the area under the ROC curve. All labels count, whatever the convention calls relevant.

    Ties: file order, so a tied pair is right or wrong, never half. No pair of different
    labels (so no relevant document, too): 0. The whole list counts, however short.
    """
    return ratio(*rankings.correct_pairs)


PairwiseCorrect = Measure(
    "PairwiseCorrect", "pairwise", pairwise_correct, "none",
    "share of the pairs of different labels in the right order",
)  # fmt: skip
