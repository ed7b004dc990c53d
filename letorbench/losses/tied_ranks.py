"""Ranks where documents have equal scores.

Such documents share ranks. What depends on ranks is taken as its mean over all orders of these
documents, which is exact and cheap.
"""

import numpy as np

from letorbench.compiled.jit import kernel


@kernel()
def tied_ranks(scores: np.ndarray, rank: np.ndarray, tied: np.ndarray) -> bool:
    """Fill rank[i] with the documents of higher scores, tied[i] with those of the same score.

    A document has the ranks rank[i]..rank[i] + tied[i] - 1, from 0, each as likely as another.
    Returns whether any scores are equal.
    """
    size = len(scores)
    total = 0
    for i in range(size):
        score, above = scores[i], 0
        for j in range(size):
            above += scores[j] > score
        rank[i], tied[i] = above, 1
        total += above
    if total == size * (size - 1) // 2:  # the ranks are 0, 1, ... where no scores are equal
        return False
    for i in range(size):
        score, equal = scores[i], 0
        for j in range(size):
            equal += scores[j] == score
        tied[i] = equal
    return True


@kernel()
def mean_of_ranks(values: np.ndarray, begin: int, count: int) -> float:
    """Return the mean of values[begin], ... values[begin + count - 1]."""
    total = 0.0
    for k in range(begin, begin + count):
        total += values[k]
    return total / count


@kernel()
def mean_difference(values: np.ndarray, begin: int, count: int, first: int) -> float:
    """Return the mean difference of two of `count` falling values from `begin` on; 0 of one.

    Two count 0 where neither is one of the `first` values.
    """
    total = 0.0
    for k in range(count):
        above = count - 1.0 - k if k < first else 0.0
        total += values[begin + k] * (above - min(k, first))
    return 2.0 * total / (count * (count - 1.0)) if count > 1 else 0.0
