"""Losses of a query's whole list."""

from __future__ import annotations

import numpy as np

from letorbench.datasets.queryset import QuerySet
from letorbench.errors import UsageError
from letorbench.kernels import lists
from letorbench.losses.base import query_share, register
from letorbench.threads import in_threads

#: the most ways to fill k places that a list may have: about a second of work
MOST_PLACINGS = 10**8


def top_k(
    scores: np.ndarray, queries: QuerySet, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """Cross entropy of the first k places under Plackett-Luce with scores r and s, exact.

    P_s(j_1 .. j_k) = prod over t of e^{s_{j_t}} / sum over the documents not among
    j_1 .. j_{t-1} of e^{s_l} (Cao et al., ICML 2007, section 4 and its appendix). A list of
    fewer than k documents is placed whole. UsageError where a list's m^k is too large.
    """
    longest = int(queries.lengths.max(initial=0))
    if longest**k > MOST_PLACINGS:
        raise UsageError(
            f"listnet: found a query of {longest} documents, whose first {k} places can be "
            f"filled in about {float(longest**k):.1e} ways, expected {MOST_PLACINGS:.0e} at most"
        )
    value, gradient = np.empty(queries.n_queries), np.empty(queries.n_docs)

    def part(start: int, stop: int) -> None:
        lists.top_k(scores, queries.labels, queries.offsets, k, start, stop, value, gradient)

    in_threads(part, queries.n_queries, query_share(queries, 4_000))
    return value, gradient


@register("listnet", "-sum_i softmax(r)_i log softmax(s)_i")
def listnet(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """ListNet's top-one cross entropy (Cao et al., ICML 2007, equation 6)."""
    return top_k(scores, queries, 1)


@register("listnet-2", "-sum over ordered pairs g of P_r(g) log P_s(g), Plackett-Luce")
def listnet_2(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """ListNet's cross entropy of the first two places."""
    return top_k(scores, queries, 2)


@register("listnet-3", "-sum over ordered triples g of P_r(g) log P_s(g), Plackett-Luce")
def listnet_3(scores: np.ndarray, queries: QuerySet) -> tuple[np.ndarray, np.ndarray]:
    """ListNet's cross entropy of the first three places."""
    return top_k(scores, queries, 3)
