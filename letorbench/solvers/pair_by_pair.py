"""RankNet's gradient as the NIPS 2006 paper times it: pair by pair (V1), and factored (V2).

In V1 each pair takes two passes forward and two backward through the net. V2 sums the forces on
a document first. It takes n passes forward, the pairs, n passes forward again and n backward; the
paper names the two further speedups that it leaves out, stored activations and one exponential a
document (section 6, footnote 3). `letorbench.losses.pairwise_logistic` has both of these. All
three give the same gradient (Burges, Ragno, Le, section 5, equations 6 and 7); the two here are
here to be timed.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel
from letorbench.losses.lambdas import RANKNET, pair_force
from letorbench.models.mlp import Layers, backward, forward


class Passes(NamedTuple):
    """What the passes through a net read and write.

    hidden, delta, change: as in `forward` and `backward`. scores, force: (n,), n at least 2 and
    the documents of the longest query.
    """

    net: Layers
    hidden: np.ndarray
    delta: np.ndarray
    change: Layers
    scores: np.ndarray
    force: np.ndarray


@kernel()
def pair_by_pair(features: np.ndarray, blocks: LabelBlocks, q: int, passes: Passes) -> float:
    """Add minus the gradient of RankNet's cost of query q to the change; return the cost.

    features: of the query's documents.
    """
    starts, begin = blocks.starts, blocks.offsets[q]
    first, last = blocks.queries[q], blocks.queries[q + 1]
    cost = 0.0
    for b in range(first, last - 1):
        for p in range(starts[b], starts[b + 1]):
            for r in range(starts[b + 1], starts[last]):
                i, j = blocks.order[p] - begin, blocks.order[r] - begin
                cost += one_pair(features, i, j, passes)
    return cost


@kernel()
def one_pair(features: np.ndarray, i: int, j: int, passes: Passes) -> float:
    """Do what `pair_by_pair` does for documents i and j, of which i has the higher label."""
    net, hidden, delta, change, score, force = passes
    x_i, x_j = features[i : i + 1], features[j : j + 1]
    forward(x_i, net, hidden[:, 0:1], score[0:1], x_i[:0])
    forward(x_j, net, hidden[:, 1:2], score[1:2], x_j[:0])
    difference = score[0] - score[1]
    force[0] = pair_force(RANKNET, difference, 0.0, 0.0)
    backward(x_i, net, hidden[:, 0:1], force[0:1], delta, change)
    force[0] = -force[0]
    backward(x_j, net, hidden[:, 1:2], force[0:1], delta, change)
    return np.log1p(np.exp(-abs(difference))) + max(0.0, -difference)


@kernel()
def factored_as_printed(features: np.ndarray, blocks: LabelBlocks, q: int, passes: Passes) -> float:
    """Do what `pair_by_pair` does with one exponential a pair and three passes a document."""
    starts, begin = blocks.starts, blocks.offsets[q]
    first, last = blocks.queries[q], blocks.queries[q + 1]
    s, f = passes.scores[: len(features)], passes.force[: len(features)]
    forward(features, passes.net, passes.hidden, s, features[:0])
    f[:] = 0.0
    cost = 0.0
    for b in range(first, last - 1):
        for p in range(starts[b], starts[b + 1]):
            i = blocks.order[p] - begin
            for r in range(starts[b + 1], starts[last]):
                j = blocks.order[r] - begin
                difference = s[i] - s[j]
                cost += np.log1p(np.exp(-abs(difference))) + max(0.0, -difference)
                pull = pair_force(RANKNET, difference, 0.0, 0.0)
                f[i] += pull
                f[j] -= pull
    forward(features, passes.net, passes.hidden, s, features[:0])
    backward(features, passes.net, passes.hidden, f, passes.delta, passes.change)
    return cost
