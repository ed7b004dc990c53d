"""Counting how many of a query's scores are above some of them."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: of a query with more hits the documents are sorted; with fewer, counting above each is quicker
COUNTED = 500

#: scores that are counted at once; a multiple of what a vector register holds
BLOCK = 16

#: hits that share each score that is read
TOGETHER = 4


@kernel()
def whole_blocks(scores: np.ndarray, number: int) -> np.ndarray:
    """Return the first scores in whole BLOCKs, the last filled with what is in no count."""
    width = (number + BLOCK - 1) // BLOCK * BLOCK
    scores[number:width] = np.nan
    return scores[:width]


@kernel()
def count(
    scores: np.ndarray, hits: np.ndarray, n_hits: int, above: np.ndarray, level: np.ndarray
) -> None:
    """Count for each of hits[:n_hits] the larger scores and the equal ones.

    Scores in single precision take half the time. Rounding to it swaps no two scores: what is then
    above or below is so, and only what is then equal may differ.

    The arrays of hits have room for a multiple of TOGETHER. The counts are as wide as such scores,
    so that both fill vector registers alike.
    """
    hits[n_hits : n_hits + TOGETHER - 1] = 0
    zero = np.int32(0)
    for i in range(0, n_hits, TOGETHER):
        s0, s1 = scores[hits[i]], scores[hits[i + 1]]
        s2, s3 = scores[hits[i + 2]], scores[hits[i + 3]]
        above0, above1, above2, above3 = zero, zero, zero, zero
        from0, from1, from2, from3 = zero, zero, zero, zero
        for j in range(len(scores)):
            above0 = np.int32(above0 + (scores[j] > s0))
            above1 = np.int32(above1 + (scores[j] > s1))
            above2 = np.int32(above2 + (scores[j] > s2))
            above3 = np.int32(above3 + (scores[j] > s3))
            from0 = np.int32(from0 + (scores[j] >= s0))
            from1 = np.int32(from1 + (scores[j] >= s1))
            from2 = np.int32(from2 + (scores[j] >= s2))
            from3 = np.int32(from3 + (scores[j] >= s3))
        above[i], above[i + 1], above[i + 2], above[i + 3] = above0, above1, above2, above3
        level[i], level[i + 1] = from0 - above0, from1 - above1
        level[i + 2], level[i + 3] = from2 - above2, from3 - above3
