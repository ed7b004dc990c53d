"""The ranking that average precision's structural SVM finds most violated, greedily.

Yue, Finley, Radlinski, Joachims, "A support vector method for optimizing average precision",
SIGIR 2007, section 3.3.1, Algorithm 2: with the relevant and the other documents each in order
of score, every other document is put, on its own, at its best place among the relevant ones.
"""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel


@kernel()
def average_precision(
    scores: np.ndarray,
    relevant: np.ndarray,
    order: np.ndarray,
    offsets: np.ndarray,
    first: int,
    last: int,
    weights: np.ndarray,
    losses: np.ndarray,
) -> None:
    """For the queries first..last - 1: Psi(x, y) - Psi(x, y') = sum of weights_i x_i; 1 - AP(y').

    order: the rows of each query by ascending score. With i and j counting the R relevant and
    the N other documents from 1, best first, and y' = the ranking found, document j stands
    before the relevant documents k_j..R, k_j the maximiser of sum_{i = k..R} delta_j(i, i+1),
    delta_j(i, i+1) = (j/(j+i) - (j-1)/(j+i-1)) / R - 2 (s_i - s_j) / (R N)
    (the paper's equation 11). As j/(j+i) - (j-1)/(j+i-1) = i / ((j+i) (j+i-1)) and s_j fall
    with j, k_j never falls: the search for k_j ends at k_{j-1}. A query without relevant or
    without other documents gives zeros. O(R N) a query.
    """
    longest = 0
    for q in range(first, last):
        longest = max(longest, offsets[q + 1] - offsets[q])
    good = np.empty(longest, np.int64)
    bad = np.empty(longest, np.int64)
    ahead = np.empty(longest + 1, np.int64)
    for q in range(first, last):
        n_good = n_bad = 0
        for t in range(offsets[q + 1] - 1, offsets[q] - 1, -1):
            if relevant[order[t]]:
                good[n_good] = order[t]
                n_good += 1
            else:
                bad[n_bad] = order[t]
                n_bad += 1
        weights[offsets[q] : offsets[q + 1]] = 0.0
        losses[q] = 0.0
        if n_good == 0 or n_bad == 0:
            continue
        unit = 2.0 / (n_good * n_bad)
        ahead[: n_good + 1] = 0
        lowest = 1
        for j in range(1, n_bad + 1):
            s_j = scores[bad[j - 1]]
            delta = best = 0.0
            k = n_good + 1
            for i in range(n_good, lowest - 1, -1):
                rise = i / (float(j + i) * (j + i - 1) * n_good)
                delta += rise - unit * (scores[good[i - 1]] - s_j)
                if delta > best:
                    best, k = delta, i
            lowest = k
            ahead[k - 1] += 1
            weights[bad[j - 1]] = -unit * (n_good - k + 1)
        before, precision = 0, 0.0
        for i in range(1, n_good + 1):
            before += ahead[i - 1]
            precision += i / float(i + before)
            weights[good[i - 1]] = unit * before
        losses[q] = 1.0 - precision / n_good
