"""Weighted logistic losses of pairs whose weight is one number a pair of labels.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, equation
9 with the logistic loss. Every weight V of Table 9 is c_q (a_i - a_j or 1) (e_i - e_j or 1); where
equal labels share the mean of e over their places, two blocks of equal labels have one weight,
and their pairs are RankNet's, which `pairwise_logistic` sums with one exponential a document.
"""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import LabelBlocks
from letorbench.jit import kernel, longest_query
from letorbench.losses.base import ValueAndGradient
from letorbench.losses.exponentials import exponentials, gather
from letorbench.losses.label_order import PairWeights, block_weight
from letorbench.losses.pairwise_logistic import add_forces, pair_workspace
from letorbench.losses.smooth_sums import PairBlock


@kernel()
def weighted_logistic(
    scores: np.ndarray,
    blocks: LabelBlocks,
    weights: PairWeights,
    start: int,
    stop: int,
    out: ValueAndGradient,
) -> None:
    """Fill out with sum of V_ij log(1 + exp(-(s_i - s_j))) over the pairs r_i > r_j.

    weights.e: equal within a block.
    """
    starts, order = blocks.starts, blocks.order
    workspace = pair_workspace(max(1, longest_query(blocks.offsets, start, stop)))
    s, u, force = workspace.s, workspace.u, workspace.force
    for q in range(start, stop):
        begin, end = blocks.offsets[q], blocks.offsets[q + 1]
        first, last, size = blocks.queries[q], blocks.queries[q + 1], end - begin
        out.value[q] = 0.0
        out.gradient[begin:end] = 0.0
        if last - first < 2:
            continue
        gather(scores, order[begin:end], s)
        span, top = exponentials(s, size, u), s[:size].max()
        for b in range(first, last - 1):
            b0, b1 = starts[b] - begin, starts[b + 1] - begin
            for later in range(b + 1, last):
                l0, l1 = starts[later] - begin, starts[later + 1] - begin
                v = block_weight(weights, starts, q, b, later)
                pairs = PairBlock(b0, b1, l0, l1)
                force[b0:b1] = 0.0
                force[l0:l1] = 0.0
                out.value[q] += v * add_forces(workspace, pairs, top, span)
                for p in range(b0, b1):
                    out.gradient[order[begin + p]] -= v * force[p]
                for p in range(l0, l1):
                    out.gradient[order[begin + p]] -= v * force[p]
