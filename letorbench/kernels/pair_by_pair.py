"""RankNet as it was first trained, pair by pair (V1): twice the passes for each pair.

The factored gradient (V2, `per_query`) sums the forces on a document before its one backward
pass; both give the same gradient (Burges, Ragno, Le, NIPS 2006, section 5, equations 6, 7).
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.kernels.nets import backward, forward
from letorbench.kernels.pairs import RANKNET, pair_force


@kernel()
def pair_by_pair(
    features: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    first: int,
    last: int,
    weights: np.ndarray,
    bias: np.ndarray,
    output: np.ndarray,
    hidden: np.ndarray,
    pull: np.ndarray,
    change: np.ndarray,
    bias_change: np.ndarray,
    output_change: np.ndarray,
) -> float:
    """RankNet's V1: two passes forward and two backward for each pair of one query; its cost."""
    score, force = np.empty(2), np.empty(1)
    cost = 0.0
    for b in range(first, last - 1):
        for i in range(starts[b], starts[b + 1]):
            for j in range(starts[b + 1], starts[last]):
                upper, lower = order[i], order[j]
                above, below = hidden[0:1], hidden[1:2]
                forward(features, upper, upper + 1, weights, bias, output, above, score[0:1])
                forward(features, lower, lower + 1, weights, bias, output, below, score[1:2])
                difference = score[0] - score[1]
                cost += np.log1p(np.exp(-abs(difference))) + max(0.0, -difference)
                force[0] = pair_force(RANKNET, difference, 0.0, 0.0)
                backward(
                    features, upper, upper + 1, output, above, force, pull,
                    change, bias_change, output_change,
                )  # fmt: skip
                force[0] = -force[0]
                backward(
                    features, lower, lower + 1, output, below, force, pull,
                    change, bias_change, output_change,
                )  # fmt: skip
    return cost
