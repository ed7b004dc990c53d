"""The four measuring conventions: what the official LETOR tools do, and the textbook's."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from letorbench.errors import UsageError


def letor_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """gain * (1, 1, then 1 / log2(rank)) for the ranks 1, 2, 3, ..., broadcast, float64.

    Computed as the LETOR tools do, (gain * ln 2) / ln(rank): another order of the same
    operations gives other last digits.
    """
    rank = np.asarray(rank, dtype=np.float64)
    return np.where(rank > 2.0, gain * np.log(2.0) / np.log(np.maximum(rank, 2.0)), gain)


def standard_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """gain / log2(1 + rank) for the ranks 1, 2, 3, ..., broadcast, float64."""
    return gain / np.log2(1.0 + np.asarray(rank, dtype=np.float64))


@dataclass(frozen=True)
class Convention:
    """What a measure's number depends on beyond the ranked labels.

    discount:    (ranks from 1, gains = 1) -> discounted gains.
    short_ndcg:  whether NDCG@k of a list shorter than k is that of the whole list; else 0.
    short_p:     whether P@k of a list shorter than k is its relevant documents over k; else 0.
    relevant:    the smallest label that counts as relevant for P, MAP, MRR, WTA and bpref.
    cutoffs:     the largest k that the convention's tool prints.
    mean_ndcg:   whether its tool prints MeanNDCG.
    max_label:   the data set's largest label (ERR's r_max); None: the largest label measured.
    """

    name: str
    discount: Callable[..., np.ndarray]
    short_ndcg: bool
    short_p: bool
    relevant: int
    cutoffs: int
    mean_ndcg: bool
    max_label: int | None = None


#: The 3.0 tool keeps a list's NDCG and precision only down to its end, and adds nothing to
#: the sums beyond; the 4.0 and MSLR tools still do that for NDCG, but go on with precision.
CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("letor3", letor_discount, False, False, 1, 16, False),
        Convention("letor4", letor_discount, False, True, 1, 10, True),
        Convention("mslr", letor_discount, False, True, 2, 10, True),
        Convention("standard", standard_discount, True, True, 1, 10, False),
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
