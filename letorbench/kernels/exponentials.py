"""One exponential a document, shared by its query's pairs: sigma(s_j - s_i) = u_j / (u_i + u_j)."""

from __future__ import annotations

import numpy as np

from letorbench.jit import kernel

#: a query's scores may span so much before products of two exponentials lose digits
SPAN = 300.0


@kernel()
def longest(offsets: np.ndarray, first: int, last: int) -> int:
    """The most documents that one of the queries first..last - 1 has."""
    most = 0
    for q in range(first, last):
        most = max(most, offsets[q + 1] - offsets[q])
    return most


@kernel()
def exponentials(
    scores: np.ndarray, order: np.ndarray, begin: int, end: int, u: np.ndarray
) -> bool:
    """u = exp(s - max s) of the rows order[begin:end], then zeros; whether that keeps digits.

    Where it does not, u = s - max s.
    """
    top, bottom = -np.inf, np.inf
    for i in range(begin, end):
        score = scores[order[i]]
        top, bottom = max(top, score), min(bottom, score)
    near = top - bottom <= SPAN
    for i in range(begin, end):
        difference = scores[order[i]] - top
        u[i - begin] = np.exp(difference) if near else difference
    u[end - begin :] = 0.0
    return near
