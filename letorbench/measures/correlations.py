"""Rank correlations of a query's scores with its labels, from -1 to 1.

Labels may be of any size, such as places in long lists. Documents that are not retrieved do not
count.
"""

import numpy as np

from letorbench.measures.measure import Measure
from letorbench.measures.rankings import Rankings, owner, rank, ratio, score_groups


def kendall(rankings: Rankings, k: int | None) -> np.ndarray:
    """tau-b = (C - D) / sqrt((pairs - ties of scores) (pairs - ties of labels)).

    C pairs of documents have their scores in the order of the labels, D in the other order.
    Kendall 1945, "The treatment of ties in ranking problems".
    Ties: no order. Equal labels or equal scores throughout: 0. The whole list counts.
    """
    assert rankings.scores is not None
    groups = score_groups(rankings.scores, rankings.offsets)
    right, wrong, same_label = rankings.pairs(groups)
    n, sizes = rankings.lengths, np.diff(groups)
    of_query = np.searchsorted(groups, rankings.offsets)
    same_score = rankings.sums(sizes * (sizes - 1) / 2, of_query)
    pairs = n * (n - 1) / 2
    return ratio(right - wrong, np.sqrt((pairs - same_score) * (pairs - same_label)))


def spearman(rankings: Rankings, k: int | None) -> np.ndarray:
    """rho: the correlation of the ranks by score and by label; equal ones share their mean rank.

    Spearman 1904, "The proof and measurement of association between two things".
    Ties: no order. Equal labels or equal scores throughout: 0. The whole list counts.
    """
    assert rankings.scores is not None
    offsets = rankings.offsets
    x, y = (_centred_ranks(each, offsets) for each in (rankings.scores, rankings.labels))
    xy, xx, yy = (rankings.sums(each, offsets) for each in (x * y, x * x, y * y))
    return ratio(xy, np.sqrt(xx * yy))


def _centred_ranks(values: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    """Return mean ranks by falling value minus the mean rank of the query, (n_docs,) float64."""
    order = rank(values, offsets)
    groups = score_groups(values[order], offsets)
    middles = np.repeat((groups[:-1] + groups[1:]) / 2, np.diff(groups))
    centred = np.empty(len(values))
    centred[order] = middles - ((offsets[:-1] + offsets[1:]) / 2)[owner(offsets)]
    return centred


Tau = Measure(
    "Tau",
    "tau",
    kendall,
    "none",
    "Kendall's tau-b of scores and labels, from -1 to 1",
    bounded=False,
)
Rho = Measure(
    "Rho",
    "rho",
    spearman,
    "none",
    "Spearman's rho of scores and labels, from -1 to 1",
    bounded=False,
)
