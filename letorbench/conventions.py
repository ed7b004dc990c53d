"""The measuring conventions: those of the official LETOR tools, and the textbook's.

To add a convention, add a record to this file.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Literal

import numpy as np

from letorbench.errors import UsageError


def letor_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain * (1, 1, then 1 / log2(rank)) for ranks from 1, broadcast, float64.

    It is computed as (gain * ln 2) / ln(rank), as the LETOR tools do. Another order of the same
    operations gives other last digits, and so does NumPy's logarithm.

    Examples
    --------
    >>> letor_discount([1, 2, 4])
    array([1. , 1. , 0.5])
    """
    rank = np.asarray(rank, dtype=np.float64)
    below = _each(math.log, np.maximum(rank, 2.0))
    return np.where(rank > 2.0, gain * math.log(2.0) / below, gain)


def standard_discount(rank: np.ndarray, gain: np.ndarray | float = 1.0) -> np.ndarray:
    """Return gain / log2(1 + rank) for ranks from 1, broadcast, float64.

    Examples
    --------
    >>> standard_discount([1, 3, 7], gain=6.0)
    array([6., 3., 2.])
    """
    return gain / _each(math.log2, 1.0 + np.asarray(rank, dtype=np.float64))


def _each(logarithm: Callable[[float], float], values: np.ndarray) -> np.ndarray:
    """Return the C library's logarithm of each value."""
    flat = [logarithm(value) for value in values.ravel().tolist()]
    return np.array(flat, dtype=np.float64).reshape(values.shape)


@dataclass(frozen=True)
class Convention:
    """One record of measuring rules: everything that depends on the convention stands here.

    Parameters
    ----------
    name : str
    description : str
        How its numbers are described wherever they are printed.
    rules : str
        Its rules in sentences, for reports.
    discount : callable
        Takes ranks from 1 and gains (default 1); returns the discounted gains.
    short_ndcg : bool
        Whether NDCG@k of a list shorter than k is that of the whole list; otherwise it is 0.
    short_p : bool
        Whether P@k of a list shorter than k divides its relevant documents by k; otherwise it
        is 0.
    relevant : int
        The smallest label that counts as relevant for P, MAP, MRR, WTA and bpref.
    cutoffs : int
        The largest k that the convention's tool prints.
    mean_ndcg : bool
        Whether its tool prints MeanNDCG.
    layout : {"sections", "tables"}
        The form of its tool's output: a section a measure (LETOR 3.0) or two tables.
    max_label : int, optional
        The data set's largest label, which is ERR's r_max; by default the largest label
        measured.
    """

    name: str
    description: str
    rules: str
    discount: Callable[..., np.ndarray]
    short_ndcg: bool
    short_p: bool
    relevant: int
    cutoffs: int
    mean_ndcg: bool
    layout: Literal["sections", "tables"] = "tables"
    max_label: int | None = None


#: The 3.0 tool adds nothing to the sums of NDCG and precision beyond a list's end. The 4.0 and
#: MSLR tools do so for NDCG, but go on with precision.
LETOR4 = Convention(
    name="letor4",
    description="as the LETOR 4.0 tool computes them (NDCG@k of a list shorter than k is 0)",
    rules=(
        "Gain 2^r - 1; discount 1, 1, then 1/log2(rank). A list shorter than k has NDCG@k of 0; "
        "P@k divides by k. Relevant for P, MAP and MRR is r >= 1."
    ),
    discount=letor_discount,
    short_ndcg=False,
    short_p=True,
    relevant=1,
    cutoffs=10,
    mean_ndcg=True,
)
LETOR3 = replace(
    LETOR4,
    name="letor3",
    description="as the LETOR 3.0 tool computes them",
    rules=(
        "Gain 2^r - 1; discount 1, 1, then 1/log2(rank). A list shorter than k has NDCG@k and "
        "P@k of 0. Relevant for P, MAP and MRR is r >= 1."
    ),
    short_p=False,
    cutoffs=16,
    mean_ndcg=False,
    layout="sections",
)
MSLR = replace(
    LETOR4,
    name="mslr",
    description=LETOR4.description.replace("LETOR 4.0", "MSLR"),
    rules=LETOR4.rules.replace("r >= 1", "r >= 2"),
    relevant=2,
)
STANDARD = replace(
    LETOR4,
    name="standard",
    description="by the textbook, discount 1/log2(1 + rank)",
    rules=(
        "Gain 2^r - 1; discount 1/log2(1 + rank). A list shorter than k has the NDCG of the "
        "whole list. Relevant for P, MAP and MRR is r >= 1."
    ),
    discount=standard_discount,
    short_ndcg=True,
    mean_ndcg=False,
)

CONVENTIONS: Mapping[str, Convention] = MappingProxyType(
    {record.name: record for record in (LETOR3, LETOR4, MSLR, STANDARD)}
)


def convention(name: str) -> Convention:
    """Return the convention of that name; UsageError names the choices.

    Examples
    --------
    >>> convention("letor4").description
    'as the LETOR 4.0 tool computes them (NDCG@k of a list shorter than k is 0)'
    """
    if name not in CONVENTIONS:
        expected = ", ".join(CONVENTIONS)
        raise UsageError(f"unknown convention {name!r}; expected one of {expected}")
    return CONVENTIONS[name]
