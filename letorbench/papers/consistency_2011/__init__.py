"""Ravikumar, Tewari, Yang, "On NDCG Consistency of Listwise Ranking Methods", AISTATS 2011."""

from __future__ import annotations

import numpy as np

from letorbench.papers.consistency_2011 import theory
from letorbench.papers.runs import Measured, Study, exactly

#: section 3.2.1: two labellings of two documents and their probabilities
LABELLINGS, PROBABILITIES = np.array([[5, 4], [1, 3]]), np.array([0.3, 0.7])


def example(study: Study) -> dict[str, Measured]:
    """Section 3.2.1's worked example."""
    gain = np.exp2(LABELLINGS) - 1.0
    discount = 1.0 / np.log2(np.array([2.0, 3.0]))
    z = np.sort(gain, axis=1)[:, ::-1] @ discount
    expected, share = PROBABILITIES @ gain, PROBABILITIES @ (gain / z[:, None])
    found = {
        "gain-first": expected[0], "gain-second": expected[1],
        "share-first": share[0], "share-second": share[1],
        "reversed": np.sign((expected[0] - expected[1]) * (share[0] - share[1])),
    }  # fmt: skip
    return {name: exactly(float(value)) for name, value in found.items()}


PARTS = {"example": example, "theory": theory.theory}
