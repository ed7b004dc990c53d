"""The rules by which claims are judged, the same for every paper, and the usual checks.

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

The interval comes from drawing the queries of the test folds again. Where the queries are the
paper's own, it is wider than what separates two implementations of one method, so that "not
reproduced" means a large difference.

A claim holds its check, which these functions make: `value_of`, `above`, `above_by`, `number`,
`unavailable`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from letorbench.analysis.intervals import bootstrap_folds, bootstrap_ratio
from letorbench.analysis.significance import randomization
from letorbench.papers.claims import (
    NO_DATA,
    NOT_REPRODUCED,
    NOT_SIGNIFICANT,
    REPRODUCED,
    Check,
    Claim,
    Found,
    Measured,
    Verdict,
)
from letorbench.papers.study import Study, Values

#: how near a value must come to the paper's, relative to it
NEAR = 0.02
ALPHA = 0.05


def value_of(method: str, measure: str) -> Check:
    """The check of a method's mean of a measure against the claim's value."""

    def check(claim: Claim, found: Found) -> Verdict:
        values = found[method]
        return value(claim, values[measure], values.folds)

    return needing((method,), check)


def above(upper: str, lower: str, measure: str | None = None) -> Check:
    """The check that a method is above another, by a measure or by the mean of all of them."""

    def check(claim: Claim, found: Found) -> Verdict:
        one, other = found[upper], found[lower]
        return ordering(claim, column(one, measure), column(other, measure), one.folds)

    return needing((upper, lower), check)


def above_by(upper: str, lower: str, measure: str) -> Check:
    """The check that a method exceeds another by the claim's share."""

    def check(claim: Claim, found: Found) -> Verdict:
        one, other = found[upper], found[lower]
        return difference(claim, one[measure], other[measure], one.folds)

    return needing((upper, lower), check)


def number(name: str) -> Check:
    """The check of a number that the part's run measured under that name."""

    def check(claim: Claim, found: Found) -> Verdict:
        return measured(claim, found[name])

    return check


def unavailable(how: str) -> Check:
    """The check of a claim whose data nobody can get; `how` says why."""
    return lambda claim, found: no_data(claim, how)


def needing(methods: Sequence[str], check: Check) -> Check:
    """The check, where every method has a result; otherwise no data."""

    def checked(claim: Claim, found: Found) -> Verdict:
        absent = [method for method in methods if method not in found]
        if absent:
            return no_data(claim, f"no result of {', '.join(absent)}")
        return check(claim, found)

    return checked


def on_datasets(
    claims: Iterable[Claim], found: Mapping[str, Found], study: Study
) -> tuple[Verdict, ...]:
    """The verdict on each claim by what was found on its data set; no data where it is absent."""
    return tuple(
        claim.judge(found.get(claim.dataset, {}))
        if study.has(claim.dataset)
        else no_data(claim, study.missing(claim.dataset))
        for claim in claims
    )


def column(values: Values, measure: str | None) -> np.ndarray:
    """(n_queries,) of a measure, or of the mean of all measures where none is named."""
    return values.level if measure is None else values[measure]


def value(claim: Claim, values: np.ndarray, folds: np.ndarray, note: str = "") -> Verdict:
    """Judge a mean of per-query values (n_queries,) with their folds (n_queries,)."""
    (found,) = bootstrap_folds(values[:, None], folds)
    return measured(claim, Measured(found.mean, found.low, found.high, note))


def measured(claim: Claim, ours: Measured) -> Verdict:
    """Judge a number that is known with its 95 % interval."""
    theirs = claim.value
    if theirs is None:
        raise ValueError(f"{claim.id}: a claim of a value needs one")
    if claim.sense == "equal":
        if abs(ours.value - theirs) <= NEAR * abs(theirs):
            verdict = REPRODUCED
        else:
            verdict = NOT_SIGNIFICANT if ours.low <= theirs <= ours.high else NOT_REPRODUCED
    else:
        least = claim.sense == "at least"
        above_it, below_it = ours.low >= theirs, ours.high < theirs
        under_it, over_it = ours.high <= theirs, ours.low > theirs
        holds, fails = (above_it, below_it) if least else (under_it, over_it)
        verdict = REPRODUCED if holds else NOT_REPRODUCED if fails else NOT_SIGNIFICANT
    return Verdict(claim, verdict, ours.value, ours.low, ours.high, None, ours.note)


def ordering(
    claim: Claim,
    upper: np.ndarray,
    lower: np.ndarray,
    folds: np.ndarray,
    note: str = "",
    candidates: int = 1,
) -> Verdict:
    """Judge whether `upper` is above `lower`, two methods' values of one measure.

    Parameters
    ----------
    claim : Claim
        The claim.
    upper, lower, folds : ndarray, shape (n_queries,)
        The values of the method that is claimed to be above, those of the other, and the folds.
    note : str
        What the verdict says beside its numbers.
    candidates : int
        From how many pairs this one was picked by its values.
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
    """The verdict where the paper's data are not at hand; `how` says how to get them."""
    return Verdict(claim, NO_DATA, note=how)


def _p(upper: np.ndarray, lower: np.ndarray) -> float:
    """p of the paired randomisation test; its random signs are the same in every run."""
    return randomization(upper, lower, np.random.default_rng(0)).p
