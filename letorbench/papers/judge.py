"""The rules by which claims are judged; the same for every paper.

value       reproduced: ours is within 2 % of the paper's number; not reproduced: it is not,
            and the number lies outside our 95 % interval; otherwise not significant either
            way. "At least"/"at most": reproduced or not as the interval lies on one side of
            the number, not significant where it contains it.
ordering    reproduced: the mean difference has the claimed sign, p < .05; not reproduced: the
            other sign, p < .05; otherwise not significant either way. Where the run itself
            picks the pair, the best or worst of several, p is Bonferroni's over all of them.
difference  reproduced: the relative difference's interval contains the paper's number and
            excludes 0; not reproduced: it excludes the paper's number; otherwise not
            significant either way.

The interval is over the queries of the test folds; on the same queries as the paper's it is
wider than what separates two implementations of one method, so that "not reproduced" is a
large difference.
"""

from __future__ import annotations

import numpy as np

from letorbench.analysis.intervals import bootstrap_folds, bootstrap_ratio
from letorbench.analysis.significance import randomization
from letorbench.papers.claims import (
    NO_DATA,
    NOT_REPRODUCED,
    NOT_SIGNIFICANT,
    REPRODUCED,
    Claim,
    Verdict,
)

#: how near a value must come to the paper's, relative to it
NEAR = 0.02
ALPHA = 0.05


def value(claim: Claim, values: np.ndarray, folds: np.ndarray, note: str = "") -> Verdict:
    """Judge a mean of per-query values (n_queries,) with their folds (n_queries,)."""
    (found,) = bootstrap_folds(values[:, None], folds)
    return measured(claim, found.mean, found.low, found.high, note)


def measured(claim: Claim, ours: float, low: float, high: float, note: str = "") -> Verdict:
    """Judge a number that is known with its 95 % interval low..high."""
    theirs = claim.value
    if theirs is None:
        raise ValueError(f"{claim.id}: a claim of a value needs one")
    if claim.sense == "equal":
        if abs(ours - theirs) <= NEAR * abs(theirs):
            verdict = REPRODUCED
        else:
            verdict = NOT_SIGNIFICANT if low <= theirs <= high else NOT_REPRODUCED
    else:
        least = claim.sense == "at least"
        holds, fails = (low >= theirs, high < theirs) if least else (high <= theirs, low > theirs)
        verdict = REPRODUCED if holds else NOT_REPRODUCED if fails else NOT_SIGNIFICANT
    return Verdict(claim, verdict, ours, low, high, None, note)


def ordering(
    claim: Claim,
    upper: np.ndarray,
    lower: np.ndarray,
    folds: np.ndarray,
    note: str = "",
    candidates: int = 1,
) -> Verdict:
    """Judge whether `upper` is above `lower`, two methods' values (n_queries,) of one measure.

    candidates: the pairs that this one was picked from by its values.
    """
    (found,) = bootstrap_folds((upper - lower)[:, None], folds)
    p = min(candidates * _p(upper, lower), 1.0)
    if p >= ALPHA:
        verdict = NOT_SIGNIFICANT
    else:
        verdict = REPRODUCED if found.mean > 0.0 else NOT_REPRODUCED
    return Verdict(claim, verdict, found.mean, found.low, found.high, p, note)


def difference(
    claim: Claim, upper: np.ndarray, lower: np.ndarray, folds: np.ndarray, note: str = ""
) -> Verdict:
    """Judge by what share of `lower`'s mean that of `upper` exceeds it."""
    if claim.value is None:
        raise ValueError(f"{claim.id}: a claim of a difference needs its size")
    found = bootstrap_ratio(upper, lower, folds)
    if not found.low <= claim.value <= found.high:
        verdict = NOT_REPRODUCED
    else:
        verdict = NOT_SIGNIFICANT if found.low <= 0.0 <= found.high else REPRODUCED
    p = _p(upper, lower)
    return Verdict(claim, verdict, found.mean, found.low, found.high, p, note)


def no_data(claim: Claim, how: str) -> Verdict:
    """The verdict where the paper's data are not at hand; `how` to get them."""
    return Verdict(claim, NO_DATA, note=how)


def _p(upper: np.ndarray, lower: np.ndarray) -> float:
    """Of the paired randomization test, its random flips the same in every run."""
    return randomization(upper, lower, np.random.default_rng(0)).p
