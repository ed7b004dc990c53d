"""Epochs in which a net's weights change once a query, compiled whole: no Python per query."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel
from letorbench.kernels.forces import COUNTS, ROOM, query_forces
from letorbench.kernels.nets import backward, forward
from letorbench.kernels.pair_by_pair import pair_by_pair
from letorbench.kernels.pairs import RANKNET


@kernel(reorder=True)
def step(
    rate: float,
    center: np.ndarray,
    stretch: np.ndarray,
    change: np.ndarray,
    bias_change: np.ndarray,
    output_change: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    output: np.ndarray,
    fast: np.ndarray,
) -> None:
    """Move the weights along the changes, as if the features were (x - center) stretch^1/2.

    The weights stay those of x itself. fast: a copy in the type that `project` reads. The
    changes are left at zero.
    """
    for h in range(len(bias)):
        moved = 0.0
        for k in range(len(center)):
            along = stretch[k] * (change[h, k] - center[k] * bias_change[h])
            weights[h, k] += rate * along
            fast[h, k] = weights[h, k]
            change[h, k] = 0.0
            moved += center[k] * along
        bias[h] += rate * (bias_change[h] - moved)
        bias_change[h] = 0.0
    for h in range(len(output)):
        output[h] += rate * output_change[h]
        output_change[h] = 0.0


@kernel()
def epoch(
    features: np.ndarray,
    offsets: np.ndarray,
    order: np.ndarray,
    starts: np.ndarray,
    queries: np.ndarray,
    block_gains: np.ndarray,
    scale: np.ndarray,
    discount: np.ndarray,
    cost_scale: np.ndarray,
    cost_discount: np.ndarray,
    sequence: np.ndarray,
    kind: int,
    neighbours: bool,
    margin: float,
    pairwise: bool,
    rate: float,
    center: np.ndarray,
    stretch: np.ndarray,
    weights: np.ndarray,
    bias: np.ndarray,
    output: np.ndarray,
    fast: np.ndarray,
) -> float:
    """Forward, forces, backward and a step for each query of `sequence`, in that order.

    offsets .. queries:  the set's `offsets` and `by_label`; block_gains: 2^r - 1 of the blocks.
    scale, discount:     1 / Z@L of each query, D of each rank with L, for the forces.
    cost_*:              the same for the cost.
    kind .. margin:      the lambda function; pairwise: RankNet's V1.
    weights .. output:   the net, changed in place; fast: weights in the type to compute in.
    Returns the cost summed over the queries, each before its step: RankNet's, or 1 - NDCG.
    """
    longest = np.diff(offsets).max()
    n_hidden, n_features = weights.shape
    room, counts = np.empty((ROOM, longest)), np.empty((COUNTS, longest), np.int64)
    scores, force = np.empty(longest), np.empty(longest)
    hidden, pull = np.empty((longest, n_hidden)), np.empty((longest, n_hidden), fast.dtype)
    change = np.zeros((n_hidden, n_features), fast.dtype)
    bias_change, output_change = np.zeros(n_hidden), np.zeros(len(output))
    total = 0.0
    for q in sequence:
        begin, end = offsets[q], offsets[q + 1]
        first, last = queries[q], queries[q + 1]
        if pairwise:
            total += pair_by_pair(
                features, order, starts, first, last, fast, bias, output, hidden, pull,
                change, bias_change, output_change,
            )  # fmt: skip
        else:
            forward(features, begin, end, fast, bias, output, hidden, scores)
            cost = query_forces(
                kind, neighbours, margin, scores, end - begin, order, starts, first, last,
                block_gains, discount, cost_discount, room, counts, force,
            )  # fmt: skip
            ranknet = kind == RANKNET and not neighbours and margin == 0.0
            total += cost if ranknet else 1.0 - cost_scale[q] * cost
            for i in range(end - begin):
                force[i] *= scale[q]
            backward(
                features, begin, end, output, hidden, force, pull,
                change, bias_change, output_change,
            )  # fmt: skip
        step(
            rate, center, stretch, change, bias_change, output_change,
            weights, bias, output, fast,
        )  # fmt: skip
    return total
