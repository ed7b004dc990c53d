"""RankNet's gradient as it was first computed, pair by pair (V1 of the NIPS 2006 paper).

Each pair takes two passes forward and two backward through the net. The factored gradient (V2,
`letorbench.losses.pairwise_logistic`) sums the forces on a document first and takes one pass for
each document. Both give the same gradient (Burges, Ragno, Le, NIPS 2006, section 5, equations 6
and 7); V1 is here to be timed.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel
from letorbench.losses.lambda_gradients import RANKNET, pair_force
from letorbench.models.mlp import Layers, backward, forward


@kernel()
def pair_by_pair(
    features: np.ndarray,
    blocks: LabelBlocks,
    q: int,
    net: Layers,
    hidden: np.ndarray,
    delta: np.ndarray,
    change: Layers,
) -> float:
    """Add minus the gradient of RankNet's cost of query q to `change`; return the cost.

    features: of the query's documents. hidden, delta: workspaces as in `forward`, `backward`.
    """
    starts, begin = blocks.starts, blocks.offsets[q]
    first, last = blocks.queries[q], blocks.queries[q + 1]
    score, force = np.empty(2), np.empty(1)
    cost = 0.0
    for b in range(first, last - 1):
        for p in range(starts[b], starts[b + 1]):
            for r in range(starts[b + 1], starts[last]):
                i, j = blocks.order[p] - begin, blocks.order[r] - begin
                x_i, x_j = features[i : i + 1], features[j : j + 1]
                forward(x_i, net, hidden[0:1], score[0:1])
                forward(x_j, net, hidden[1:2], score[1:2])
                difference = score[0] - score[1]
                cost += np.log1p(np.exp(-abs(difference))) + max(0.0, -difference)
                force[0] = pair_force(RANKNET, difference, 0.0, 0.0)
                backward(x_i, net, hidden[0:1], force, delta, change)
                force[0] = -force[0]
                backward(x_j, net, hidden[1:2], force, delta, change)
    return cost
