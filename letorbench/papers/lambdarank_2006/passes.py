"""RankNet's steps as the LambdaRank paper times them, V1 and V2, and ours.

V1, pair by pair, makes two passes forward and two backward for each pair. V2 sums the forces on a
document first: n passes forward, the pairs, n passes forward again and n backward. It lacks the two
further speedups that the paper names: stored activations and one exponential per document
(section 6, footnote 3). All take the same step (section 5, equations 6 and 7).
"""

from __future__ import annotations

from functools import partial

import numpy as np

from letorbench.compiled.jit import kernel
from letorbench.models.mlp import backward, forward
from letorbench.rankers.ranknet import ranknet_steps
from letorbench.solvers.sgd import (
    FeatureScale,
    NetState,
    Passes,
    Steps,
    TrainingQueries,
    query_features,
    take_step,
)


@kernel()
def _pair_steps(
    online: bool, data: TrainingQueries, sequence: np.ndarray, state: NetState,
    scale: FeatureScale, rate: float, passes: Passes,
) -> float:  # fmt: skip
    """Do as V1, with one step per query, or one per pair if `online`."""
    net, change, score, force = passes.net, passes.change, passes.scores, passes.force
    hidden = np.empty((2, len(net.bias), 1), np.float32)
    order, starts, total = data.blocks.order, data.blocks.starts, 0.0
    for q in sequence:
        x, begin = query_features(data, q), data.blocks.offsets[q]
        first, last = data.blocks.queries[q], data.blocks.queries[q + 1]
        for b in range(first, last - 1):
            for p in range(starts[b], starts[b + 1]):
                for r in range(starts[b + 1], starts[last]):
                    pair = order[p] - begin, order[r] - begin
                    for k in range(2):
                        forward(x[pair[k] : pair[k] + 1], net, hidden[k], score[k : k + 1])
                    cost, pull = _pair(score[0] - score[1])
                    total += cost
                    force[0], force[1] = pull, -pull
                    for k in range(2):
                        own = x[pair[k] : pair[k] + 1]
                        backward(own, net, hidden[k], force[k : k + 1], change)
                    if online:
                        take_step(rate, scale, change, state)
        if not online:
            take_step(rate, scale, change, state)
    return total


@kernel()
def _summed_steps(
    data: TrainingQueries, sequence: np.ndarray, state: NetState, scale: FeatureScale,
    rate: float, passes: Passes,
) -> float:  # fmt: skip
    """Do as V2, with one exponential per pair and three passes per document."""
    net, hidden, change, scores, force = passes
    starts, total = data.blocks.starts, 0.0
    for q in sequence:
        x, begin = query_features(data, q), data.blocks.offsets[q]
        first, last = data.blocks.queries[q], data.blocks.queries[q + 1]
        s, f = scores[: len(x)], force[: len(x)]
        for _ in range(2):  # nothing is stored for the pass backward
            forward(x, net, hidden, s)
        f[:] = 0.0
        for b in range(first, last - 1):
            for p in range(starts[b], starts[b + 1]):
                i = data.blocks.order[p] - begin
                for r in range(starts[b + 1], starts[last]):
                    j = data.blocks.order[r] - begin
                    cost, pull = _pair(s[i] - s[j])
                    total += cost
                    f[i] += pull
                    f[j] -= pull
        backward(x, net, hidden, f, change)
        take_step(rate, scale, change, state)
    return total


@kernel()
def _pair(difference: float) -> tuple[float, float]:
    """Return log(1 + e^-difference), and the force on the more relevant document."""
    t = np.exp(-abs(difference))
    pull = (t if difference >= 0.0 else 1.0) / (1.0 + t)
    return np.log1p(t) + max(0.0, -difference), pull


#: the versions that are timed; "online" is V1 with a step after every pair
STEPS: dict[str, Steps] = {
    "V1": partial(_pair_steps, False),
    "V2": _summed_steps,
    "ours": ranknet_steps,
    "online": partial(_pair_steps, True),
}
