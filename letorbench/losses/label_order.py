"""Weights of documents and of pairs, by their labels and their places in label order.

T. Tran, D. Phung, S. Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, Tables 8
and 9. pi is a document's place, from 1, when its query is sorted by label, the highest first;
eta = 1 / log2(1 + pi); R = (2^r - 1) / 2^(L - 1), where L is the number of labels of the set, 0
included. Equal labels share the mean over their places of what depends on pi (the tie rule
"breslow" of `letorbench.losses.ties`), or they stay in file order.

A weight is a value that prints and parses as text:

>>> str(PAIR_WEIGHTS["|ri-rj|/m"])
'|ri-rj|/m'
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Literal, NamedTuple

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.jit import kernel
from letorbench.losses.gains import inverse_ideal_dcg
from letorbench.losses.segments import inverse_or_zero
from letorbench.losses.ties import label_means

DocumentWeightName = Literal["1", "r", "sqrt(r)", "(2^r-1)/2^(L-1)", "1/pi", "1/log(1+pi)"]
PairWeightName = Literal[
    "1", "1/m", "|ri-rj|", "|ri-rj|/m", "(Ri-Rj)(ei-ej)/Z", "(Ri-Rj)(ei-ej)", "Ri-Rj",
    "(Ri-Rj)/m",
]  # fmt: skip


def label_count(queries: QuerySet) -> int:
    """Return L: one more than the largest label of the set."""
    return int(queries.labels.max(initial=0)) + 1


def normalized_label_gain(labels: np.ndarray, queries: QuerySet) -> np.ndarray:
    """Return R of some labels of the set."""
    return (np.exp2(labels) - 1.0) / 2.0 ** (label_count(queries) - 1)


def places(queries: QuerySet) -> np.ndarray:
    """Return the places from 1 in each query, (n_docs,): pi where no labels are equal."""
    return np.arange(queries.n_docs) - np.repeat(queries.offsets[:-1], queries.lengths) + 1


@dataclass(frozen=True)
class DocumentWeight:
    """A weight W of Table 8.

    Parameters
    ----------
    text : DocumentWeightName
    weigh : callable
        weigh(r, pi, R) are the weights of documents with those labels, places and gains.
    by_place : bool
        Whether the weights depend on pi.
    """

    text: DocumentWeightName
    weigh: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
    by_place: bool = False

    def __str__(self) -> str:
        return self.text

    def of(self, queries: QuerySet, shared: bool = True) -> np.ndarray:
        """Return W of the documents in label order, (n_docs,) float64.

        shared: whether equal labels have the mean of W over their places.
        """
        r = queries.labels[queries.by_label.order].astype(np.float64)
        weights = self.weigh(r, places(queries), normalized_label_gain(r, queries))
        return label_means(weights, queries) if shared and self.by_place else weights


#: Table 8
DOCUMENT_WEIGHTS: dict[str, DocumentWeight] = {
    weight.text: weight
    for weight in (
        DocumentWeight("1", lambda r, pi, R: np.ones_like(r)),
        DocumentWeight("r", lambda r, pi, R: r),
        DocumentWeight("sqrt(r)", lambda r, pi, R: np.sqrt(r)),
        DocumentWeight("(2^r-1)/2^(L-1)", lambda r, pi, R: R),
        DocumentWeight("1/pi", lambda r, pi, R: 1.0 / pi, by_place=True),
        DocumentWeight("1/log(1+pi)", lambda r, pi, R: standard_discount(pi), by_place=True),
    )
}


class LabelFactor(Enum):
    """What of the two labels a pair's weight is multiplied with."""

    NONE = "1"
    RATING = "r_i - r_j"
    GAIN = "R_i - R_j"


class QueryFactor(Enum):
    """What of the query a pair's weight is multiplied with: m documents, Z the ideal DCG."""

    NONE = "1"
    PER_DOCUMENT = "1 / m"
    PER_IDEAL_DCG = "1 / Z"


class PairWeights(NamedTuple):
    """V_ij = c_q (a_i - a_j or 1) (e_i - e_j or 1) of the pairs of some queries.

    c: (n_queries,); a: (n_blocks,), by label; e: (n_docs,), in label order;
    by_label, by_place: whether the differences of a and of e are factors.
    A named tuple of arrays can be passed to a compiled kernel whole.
    """

    c: np.ndarray
    a: np.ndarray
    e: np.ndarray
    by_label: bool
    by_place: bool


@kernel()
def block_weight(weights: PairWeights, starts: np.ndarray, q: int, upper: int, lower: int) -> float:
    """V of the pairs of two blocks of equal labels of query q, where e is equal within a block."""
    v = weights.c[q]
    if weights.by_label:
        v *= weights.a[upper] - weights.a[lower]
    if weights.by_place:
        v *= weights.e[starts[upper]] - weights.e[starts[lower]]
    return v


@dataclass(frozen=True)
class PairWeight:
    """A weight V of Table 9: the product of three factors.

    Parameters
    ----------
    text : PairWeightName
        m is the number of documents, e is eta and Z is the ideal DCG.
    label : LabelFactor
    places : bool
        Whether eta_i - eta_j is a factor.
    query : QueryFactor
    """

    text: PairWeightName
    label: LabelFactor = LabelFactor.NONE
    places: bool = False
    query: QueryFactor = QueryFactor.NONE

    def __str__(self) -> str:
        return self.text

    def of(self, queries: QuerySet, shared: bool = True) -> PairWeights:
        """Return V of the pairs of these queries.

        shared: whether equal labels have the mean of eta over their places.
        """
        labels = queries.by_label.labels.astype(np.float64)
        c = {
            QueryFactor.NONE: lambda: np.ones(queries.n_queries),
            QueryFactor.PER_DOCUMENT: lambda: inverse_or_zero(queries.lengths.astype(np.float64)),
            QueryFactor.PER_IDEAL_DCG: lambda: inverse_ideal_dcg(queries),
        }[self.query]()
        a = normalized_label_gain(labels, queries) if self.label is LabelFactor.GAIN else labels
        by_label = self.label is not LabelFactor.NONE
        eta = standard_discount(places(queries))
        e = label_means(eta, queries) if shared else eta
        return PairWeights(c, a, e, by_label, self.places)


#: Table 9
PAIR_WEIGHTS: dict[str, PairWeight] = {
    weight.text: weight
    for weight in (
        PairWeight("1"),
        PairWeight("1/m", query=QueryFactor.PER_DOCUMENT),
        PairWeight("|ri-rj|", LabelFactor.RATING),
        PairWeight("|ri-rj|/m", LabelFactor.RATING, query=QueryFactor.PER_DOCUMENT),
        PairWeight("(Ri-Rj)(ei-ej)/Z", LabelFactor.GAIN, True, QueryFactor.PER_IDEAL_DCG),
        PairWeight("(Ri-Rj)(ei-ej)", LabelFactor.GAIN, True),
        PairWeight("Ri-Rj", LabelFactor.GAIN),
        PairWeight("(Ri-Rj)/m", LabelFactor.GAIN, query=QueryFactor.PER_DOCUMENT),
    )
}
