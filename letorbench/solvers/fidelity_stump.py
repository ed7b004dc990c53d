"""FRank's W- of one stump, exactly."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel, longest_query
from letorbench.losses.exponentials import VECTOR, padded
from letorbench.solvers.fidelity_weights import Pairs, both_sides


@kernel()
def wrong_weight(codes: np.ndarray, cut: int, pairs: Pairs, first: int, last: int) -> float:
    """Return W- of the stump code > cut over the queries first..last - 1.

    codes: of the stump's feature, in label order. A wrong pair has its higher document at the cut
    or below and its lower one above, so the documents above the cut are put side by side.
    """
    blocks, share, all_u, near = pairs
    total = 0.0
    above = np.empty(longest_query(blocks.offsets, first, last) + VECTOR)
    for q in range(first, last):
        n, found = 0, 0.0
        for b in range(blocks.queries[q + 1] - 1, blocks.queries[q] - 1, -1):
            start, stop = blocks.starts[b], blocks.starts[b + 1]
            above[n : padded(n)] = 0.0
            for i in range(start, stop):
                if codes[i] <= cut:
                    if near[q]:
                        found += _near_row(all_u[i], above[: padded(n)])
                    else:
                        found += _far_row(all_u[i], above[:n])
            for i in range(start, stop):
                if codes[i] > cut:
                    above[n] = all_u[i]
                    n += 1
        total += share[q] * found
    return total


@kernel(reorder=True)
def _near_row(u_i: float, u: np.ndarray) -> float:
    """Return the sum of the W of a document's pairs, without the share."""
    total, root = 0.0, np.sqrt(u_i)
    for j in range(len(u)):
        both = u_i + u[j]
        total += u[j] / (both * np.sqrt(both))
    return root * total


@kernel()
def _far_row(s_i: float, s: np.ndarray) -> float:
    """Do as `_near_row` from scores that are too far apart for shared exponentials."""
    total = 0.0
    for j in range(len(s)):
        right, wrong = both_sides(s_i - s[j])
        total += np.sqrt(right) * wrong
    return total
