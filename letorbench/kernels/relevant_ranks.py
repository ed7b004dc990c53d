"""The ranks of the relevant documents alone: all that NDCG and average precision ask."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def relevant_ranks(
    scores: np.ndarray,
    offsets: np.ndarray,
    hits: np.ndarray,
    hit_offsets: np.ndarray,
    ranks: np.ndarray,
) -> None:
    """ranks[h] = the rank, from 1, of document hits[h] in its query, ties in file order.

    hits: documents, ascending; those of query q are hits[hit_offsets[q]:hit_offsets[q + 1]].
    """
    for q in range(len(offsets) - 1):
        for h in range(hit_offsets[q], hit_offsets[q + 1]):
            score = scores[hits[h]]
            before, behind = scores[offsets[q] : hits[h]], scores[hits[h] + 1 : offsets[q + 1]]
            above = 1
            for j in range(len(before)):
                above += before[j] >= score
            for j in range(len(behind)):
                above += behind[j] > score
            ranks[h] = above
