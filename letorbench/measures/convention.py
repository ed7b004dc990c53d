"""The four measuring conventions: what the official LETOR tools do, and the textbook's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.errors import UsageError


def letor_discount(rank: np.ndarray) -> np.ndarray:
    """1, 1, then 1 / log2(rank): the LETOR tools' discount of the ranks 1, 2, 3, ..."""
    rank = np.asarray(rank, dtype=np.float64)
    return np.log(2.0) / np.log(np.maximum(rank, 2.0))


def standard_discount(rank: np.ndarray) -> np.ndarray:
    """1 / log2(1 + rank), the textbook's discount of the ranks 1, 2, 3, ..."""
    return 1.0 / np.log2(1.0 + np.asarray(rank, dtype=np.float64))


@dataclass(frozen=True)
class Convention:
    """What a measure's number depends on beyond the ranked labels.

    discount:    ranks (from 1) -> discounts.
    pads:        a list shorter than k is padded: NDCG@k = 0, P@k divides by k.
    relevant:    the smallest label that counts as relevant for P, MAP, MRR, ...
    cutoffs:     the largest k that the convention's tool prints.
    mean_ndcg:   whether its tool prints MeanNDCG.
    max_label:   the data set's largest label (ERR's r_max); None: the largest label measured.
    """

    name: str
    discount: Callable[[np.ndarray], np.ndarray]
    pads: bool
    relevant: int
    cutoffs: int
    mean_ndcg: bool
    max_label: int | None = None


CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("letor3", letor_discount, False, 1, 16, False),
        Convention("letor4", letor_discount, True, 1, 10, True),
        Convention("mslr", letor_discount, True, 2, 10, True),
        Convention("standard", standard_discount, False, 1, 10, False),
    )
}


def convention(name: str) -> Convention:
    """The convention of that name; UsageError names the choices."""
    try:
        return CONVENTIONS[name]
    except KeyError:
        raise UsageError(
            f"unknown convention {name!r}; expected one of {', '.join(CONVENTIONS)}"
        ) from None
