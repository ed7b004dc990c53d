"""W. Zhang, "Learning to Rank", lecture 9 of EE448, Shanghai Jiao Tong University, 2018."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

import numpy as np
from scipy.stats import entropy

from letorbench.conventions import CONVENTIONS
from letorbench.measures import parse, query_metrics
from letorbench.papers.runs import Measured, Study, exactly

#: the list of the slide on average precision, from the top: relevant at 1, 3 and 5
LIST = (1, 0, 1, 0, 1)
#: the scores of the slide on distances between ranked lists, of the documents A, B, C
#: in the lists f, g, h
SCORES = (3.0, 0.0, 1.0), (6.0, 4.0, 3.0), (4.0, 6.0, 3.0)


def average_precision(labels: Sequence[int]) -> float:
    """Of a list of 0s and 1s in rank order, by the toolkit's `map`."""
    n = len(labels)
    offsets = np.array([0, n], dtype=np.int64)
    scores = -np.arange(n, dtype=np.float64)
    rules = CONVENTIONS["standard"]
    return float(query_metrics(np.array(labels), scores, offsets, [parse("map")], rules)[0, 0])


def plackett_luce(scores: Sequence[float]) -> list[float]:
    """The probability of every order of the documents, u = e^s (the lecture's ListNet slide)."""
    orders = permutations(np.exp(scores))
    return [float(np.prod([u / sum(order[t:]) for t, u in enumerate(order)])) for order in orders]


def examples(study: Study) -> dict[str, Measured]:
    """All worked examples."""
    # KL(first || second) of two lists' distributions over all orders, in nats
    f, g, h = map(plackett_luce, SCORES)
    f_g, g_h = float(entropy(f, g)), float(entropy(g, h))
    return {
        "average-precision": exactly(average_precision(LIST)),
        "distance-f-g": exactly(
            f_g, f"{f_g:.4f} rounds to {f_g:.2f}, the slide prints 0.46; in nats, "
            f"{f_g / np.log(2.0):.4f} in bits; the slide names no unit; f ranks A C B, the slide "
            "says A B C",
        ),
        "distance-g-h": exactly(
            g_h, f"{g_h / np.log(2.0):.3f} in bits, as printed, where 0.46 is nearly the nats: no "
            "one unit gives both; h ranks B A C, the slide says A C B",
        ),
    }  # fmt: skip


PARTS = {"examples": examples}
