"""Places in label order, and the weights of documents and pairs that go by label and place.

Tran, Phung, Venkatesh, "Learning Rank Functionals: An Empirical Study", 2012, Tables 8 and 9.
pi is a document's place from 1 when its query is sorted by label, the highest first, equal
labels in file order; eta = 1 / log2(1 + pi); R = (2^r - 1) / 2^(L - 1), L the number of labels
of the set, 0 included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from letorbench.conventions import standard_discount
from letorbench.datasets.queryset import QuerySet
from letorbench.losses.lambdas import inverse_ideal, truncated_discount
from letorbench.losses.segments import inverse

#: Table 8: W of a document by its label and place
DocumentWeight = Literal["1", "r", "sqrt(r)", "(2^r-1)/2^(L-1)", "1/pi", "1/log(1+pi)"]
#: Table 9: V of a pair; m the query's documents, e = eta, Z its largest DCG
PairWeight = Literal[
    "1", "1/m", "|ri-rj|", "|ri-rj|/m", "(Ri-Rj)(ei-ej)/Z", "(Ri-Rj)(ei-ej)", "Ri-Rj",
    "(Ri-Rj)/m",
]  # fmt: skip
DOCUMENT_WEIGHTS, PAIR_WEIGHTS = get_args(DocumentWeight), get_args(PairWeight)


def levels(queries: QuerySet) -> int:
    """L: one more than the largest label of the set."""
    return int(queries.labels.max(initial=0)) + 1


def worth(labels: np.ndarray, queries: QuerySet) -> np.ndarray:
    """R of labels."""
    return (np.exp2(labels) - 1.0) / 2.0 ** (levels(queries) - 1)


def places(queries: QuerySet) -> np.ndarray:
    """(n_docs,) pi of the documents in label order: 1, 2, ... of each query."""
    return np.arange(queries.n_docs) - np.repeat(queries.offsets[:-1], queries.lengths) + 1


def document_weights(weight: str, queries: QuerySet) -> np.ndarray:
    """(n_docs,) float64 W of the documents in label order."""
    r = queries.labels[queries.by_label.order].astype(np.float64)
    pi = places(queries)
    return {
        "1": np.ones_like(r),
        "r": r,
        "sqrt(r)": np.sqrt(r),
        "(2^r-1)/2^(L-1)": worth(r, queries),
        "1/pi": 1.0 / pi,
        "1/log(1+pi)": standard_discount(pi),
    }[weight]


@dataclass(frozen=True, eq=False)
class PairWeights:
    """V_ij = c_q (a_i - a_j or 1) (e_i - e_j or 1).

    c (n_queries,); a (n_blocks,), of a label; e (n_docs,) in label order; by_label, by_place:
    whether the differences are factors.
    """

    c: np.ndarray
    a: np.ndarray
    e: np.ndarray
    by_label: bool
    by_place: bool


def pair_weights(weight: str, queries: QuerySet) -> PairWeights:
    """The V of one of `PAIR_WEIGHTS`."""
    labels = queries.by_label.labels.astype(np.float64)
    if weight.endswith("/m"):
        c = inverse(queries.lengths.astype(np.float64))
    elif weight.endswith("/Z"):
        c = inverse_ideal(queries, truncated_discount(queries, 0))
    else:
        c = np.ones(queries.n_queries)
    a = worth(labels, queries) if "R" in weight else labels
    by_label, by_place = "i-" in weight, "ei" in weight
    return PairWeights(c, a, standard_discount(places(queries)), by_label, by_place)
