"""The rules by which claims are judged, the same for every paper.

Each kind of claim asks some of the four questions, and its verdict follows from the answers.

value            number: ours lies within half a unit of the last printed digit, plus what is
                 left to chance (the interval over seeds, draws or open choices), plus, for a
                 finding, 1 % for two implementations. It decides. "At least" and "at most" are
                 undecided where the interval holds the number.
difference       number, as above, of the share by which one method exceeds the other (1 % for
                 each of the two); direction. Reproduced: both. Not reproduced: the number is
                 missed, and so is our interval, or the direction is wrong. The test queries are
                 the paper's own, so a claim of a number asks for no significance; it is told.
superiority      direction, significance (paired randomisation test, p < .05), power. Reproduced:
                 significantly above. Not reproduced: significantly below, or a lead of the
                 margin is excluded (one-sided t-test, p < .05). Otherwise undecided.
non-inferiority  significance: the one-sided test that the method is at most the margin below.
                 Reproduced where p < .05; not reproduced where it is significantly further
                 below; otherwise undecided.
equivalence      the same with both sides (TOST): at most the margin apart.
indistinct       direction, and no significant difference. Not reproduced where there is one.

Power is "yes" where the smallest difference that the queries show in 80 % of cases is at most
the margin. Where a claim's run picks its pair, the best or worst of several, every p is
Bonferroni's over all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from letorbench.analysis.paired import randomization
from letorbench.papers import margins
from letorbench.papers.claims import (
    NO,
    NO_DATA,
    NOT_ASKED,
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    YES,
    Answers,
    Claim,
    Measured,
    Verdict,
)
from letorbench.papers.runs import Values
from letorbench.results.per_query import mean_of_folds

#: what two implementations of a method differ by, as a share of the number. The same program
#: with sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED.
IMPLEMENTATIONS = 0.01
ALPHA = 0.05


@dataclass(frozen=True, eq=False)
class Pair:
    """Two methods' per-query values of one measure.

    upper, lower, folds: (n_queries,); `candidates`: from how many pairs this one was picked.
    """

    upper: np.ndarray
    lower: np.ndarray
    folds: np.ndarray
    candidates: int = 1

    @property
    def base(self) -> float:
        """The lower method's mean, that margins are shares of."""
        return mean_of_folds(self.lower, self.folds)

    def corrected(self, p: float) -> float:
        return min(1.0, self.candidates * p)

    def detectable(self, sides: int = 2) -> float:
        """Relative to the lower method's mean."""
        size = margins.detectable(self.upper, self.lower, sides)
        return size / self.base if self.base > 0.0 else float("inf")


def pair(upper: Values, lower: Values, measure: str | None = None) -> Pair:
    """Two methods by a measure, or by the mean of all of them."""
    return Pair(column(upper, measure), column(lower, measure), lower.folds)


def column(values: Values, measure: str | None) -> np.ndarray:
    """(n_queries,) of a measure, or of the mean of all measures where none is named."""
    return values.level if measure is None else values[measure]


def measured(claim: Claim, ours: Measured) -> Verdict:
    """Judge a number that is known with its interval."""
    theirs = _number(claim)
    slack = claim.half
    if claim.nature == "finding":
        slack += IMPLEMENTATIONS * (1.0 if claim.kind == "difference" else abs(theirs))
    low, high = ours.low - slack, ours.high + slack
    if claim.sense == "equal":
        holds, fails = low <= theirs <= high, not low <= theirs <= high
    elif claim.sense == "at least":
        holds, fails = ours.low >= theirs - slack, ours.high < theirs - slack
    else:
        holds, fails = ours.high <= theirs + slack, ours.low > theirs + slack
    verdict = REPRODUCED if holds else NOT_REPRODUCED if fails else UNDECIDED
    answers = Answers(number=YES if holds else NO)
    by = "number" if holds or fails else NOT_ASKED
    return Verdict(claim, verdict, ours.value, ours.low, ours.high, None, answers, by, ours.note)


def difference(claim: Claim, found: Pair, note: str = "") -> Verdict:
    """Judge by what share of the lower method's mean the upper one exceeds it."""
    theirs = _number(claim)
    share = margins.bootstrap_ratio(found.upper, found.lower, found.folds)
    met = abs(share.mean - theirs) <= claim.half + 2.0 * IMPLEMENTATIONS
    right = share.mean > 0.0
    p = found.corrected(_p(found))
    small = found.detectable()
    answers = Answers(
        YES if met else NO, YES if right else NO, YES if p < ALPHA else NO,
        YES if small <= abs(theirs) else NO, small,
    )  # fmt: skip
    outside = not share.low <= theirs <= share.high
    by = "number" if met or outside else "direction" if not right else NOT_ASKED
    verdict = REPRODUCED if met and right else NOT_REPRODUCED if outside or not right else UNDECIDED
    return Verdict(claim, verdict, share.mean, share.low, share.high, p, answers, by, note)


def superiority(claim: Claim, found: Pair, note: str = "") -> Verdict:
    """Judge whether the upper method is above the lower one."""
    lead, p = _lead(found), found.corrected(_p(found))
    small = found.detectable()
    significant = p < ALPHA
    excluded = (
        found.corrected(margins.below(found.upper, found.lower, claim.margin * found.base)) < ALPHA
    )
    answers = Answers(
        direction=YES if lead.value > 0.0 else NO,
        significance=YES if significant else NO,
        power=YES if small <= claim.margin else NO,
        detectable=small,
    )
    if significant:
        verdict, by = (REPRODUCED if lead.value > 0.0 else NOT_REPRODUCED), "significance"
    else:
        verdict, by = (NOT_REPRODUCED, "margin") if excluded else (UNDECIDED, NOT_ASKED)
    return Verdict(claim, verdict, lead.value, lead.low, lead.high, p, answers, by, note)


def noninferiority(claim: Claim, found: Pair, note: str = "") -> Verdict:
    """Judge whether the upper method is at most the margin below the lower one."""
    margin = claim.margin * found.base
    kept = margins.above(found.upper, found.lower, -margin)
    broken = margins.below(found.upper, found.lower, -margin)
    return _against_margin(claim, found, (kept, broken), note, 1)


def equivalence(claim: Claim, found: Pair, note: str = "") -> Verdict:
    """Judge whether two methods are at most the margin apart."""
    margin = claim.margin * found.base
    kept = margins.equivalence(found.upper, found.lower, margin)
    apart = (
        margins.below(found.upper, found.lower, -margin),
        margins.above(found.upper, found.lower, margin),
    )
    return _against_margin(claim, found, (kept, min(1.0, 2.0 * min(apart))), note, 2)


def indistinct(claim: Claim, found: Pair, note: str = "") -> Verdict:
    """Judge whether the upper method is above the lower one, but not significantly."""
    lead, p = _lead(found), found.corrected(_p(found))
    right, significant = lead.value > 0.0, p < ALPHA
    small = found.detectable()
    answers = Answers(
        NOT_ASKED, YES if right else NO, YES if significant else NO,
        YES if small <= claim.margin else NO, small,
    )  # fmt: skip
    verdict = REPRODUCED if right and not significant else NOT_REPRODUCED
    by = "significance" if significant else "direction"
    return Verdict(claim, verdict, lead.value, lead.low, lead.high, p, answers, by, note)


def across(claim: Claim, pairs: Sequence[Pair], note: str = "") -> Verdict:
    """Judge superiority over several data sets.

    Stouffer's test combines the sets' one-sided p and decides. The sign test over the sets is
    told beside it; it cannot be significant with fewer than six sets.
    """
    from scipy.stats import binomtest, combine_pvalues

    shares = np.array([_lead(each).value / max(each.base, 1e-300) for each in pairs])
    ps = [margins.above(each.upper, each.lower) for each in pairs]
    bounded = np.clip(ps, 1e-15, 1.0 - 1e-15)
    one_sided = float(combine_pvalues(bounded, method="stouffer").pvalue)
    p = 2.0 * min(one_sided, 1.0 - one_sided)
    ups, moved = int((shares > 0.0).sum()), int((shares != 0.0).sum())
    sign = binomtest(ups, moved).pvalue if moved else 1.0
    right = one_sided < 0.5
    answers = Answers(
        direction=YES if right else NO,
        significance=YES if p < ALPHA else NO,
        power=YES if 2.0 * 0.5 ** len(pairs) < ALPHA else NO,
    )
    verdict = UNDECIDED if p >= ALPHA else REPRODUCED if right else NOT_REPRODUCED
    said = f"above on {ups} of {len(pairs)} sets, sign test p {sign:.3f}" + note
    return Verdict(
        claim, verdict, float(shares.mean()), float(shares.min()), float(shares.max()), p,
        answers, "significance" if p < ALPHA else NOT_ASKED, said,
    )  # fmt: skip


def no_data(claim: Claim, how: str) -> Verdict:
    """The verdict where the paper's data are not at hand; `how` says how to get them."""
    return Verdict(claim, NO_DATA, note=how)


def _against_margin(
    claim: Claim, found: Pair, ps: tuple[float, float], note: str, sides: int
) -> Verdict:
    """The verdict from the p of keeping the margin and the p of breaking it."""
    kept, broken = (found.corrected(p) for p in ps)
    lead, small = _lead(found), found.detectable(sides=1)
    answers = Answers(
        direction=(YES if lead.value > 0.0 else NO) if sides == 1 else NOT_ASKED,
        significance=YES if kept < ALPHA else NO,
        power=YES if small <= claim.margin else NO,
        detectable=small,
    )
    verdict = REPRODUCED if kept < ALPHA else NOT_REPRODUCED if broken < ALPHA else UNDECIDED
    by = NOT_ASKED if verdict == UNDECIDED else "margin"
    return Verdict(claim, verdict, lead.value, lead.low, lead.high, kept, answers, by, note)


def _lead(found: Pair) -> Measured:
    (lead,) = margins.bootstrap_folds((found.upper - found.lower)[:, None], found.folds)
    return Measured(lead.mean, lead.low, lead.high)


def _number(claim: Claim) -> float:
    if claim.value is None:
        raise ValueError(f"{claim.id}: a claim of a {claim.kind} needs a number")
    return claim.value


def _p(found: Pair) -> float:
    """p of the paired randomisation test; its random signs are the same in every run."""
    return randomization(found.upper, found.lower, np.random.default_rng(0)).p
