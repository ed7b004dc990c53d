"""The four measuring conventions: what the official LETOR tools do, and the textbook's."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from letorbench.errors import UsageError


@dataclass(frozen=True)
class Convention:
    """What a measure's number depends on beyond the ranked labels.

    shift:       the discount of rank i is 1 / log2(max(i + shift, 2)): shift 1 is the
                 textbook's 1 / log2(1 + i), shift 0 the LETOR tools' 1, 1, 1 / log2(i).
    short_ndcg:  whether NDCG@k of a list shorter than k is that of the whole list; else 0.
    short_p:     whether P@k of a list shorter than k is its relevant documents over k; else 0.
    relevant:    the smallest label that counts as relevant for P, MAP, MRR, WTA and bpref.
    cutoffs:     the largest k that the convention's tool prints.
    mean_ndcg:   whether its tool prints MeanNDCG.
    max_label:   the data set's largest label (ERR's r_max); None: the largest label measured.
    """

    name: str
    shift: int
    short_ndcg: bool
    short_p: bool
    relevant: int
    cutoffs: int
    mean_ndcg: bool
    max_label: int | None = None

    def discount(self, rank: np.ndarray) -> np.ndarray:
        """The discounts, float64, of the ranks 1, 2, 3, ..."""
        return self.discounted(1.0, rank)

    def discounted(self, gain: np.ndarray | float, rank: np.ndarray) -> np.ndarray:
        """gain * discount(rank), broadcast, in the tools' order: (gain * ln 2) / ln(rank)."""
        logarithm = np.log(np.maximum(np.asarray(rank) + self.shift, 2).astype(np.float64))
        undiscounted = np.asarray(rank) + self.shift <= 2
        return np.where(undiscounted, gain, gain * np.log(2.0) / logarithm)


CONVENTIONS: dict[str, Convention] = {
    convention.name: convention
    for convention in (
        Convention("letor3", 0, False, False, 1, 16, False),
        Convention("letor4", 0, False, True, 1, 10, True),
        Convention("mslr", 0, False, True, 2, 10, True),
        Convention("standard", 1, True, True, 1, 10, False),
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
