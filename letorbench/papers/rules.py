"""The rules by which claims are judged, the same for every paper; docs/papers/rules.md has reasons.

A comparison has two questions: do the data *show* what the sentence says, and do they *exclude* it?
Both are answered by one 95 % interval of the lead, as a whole on one side of a bound or not. A
sentence covers data sets, methods, versions and cut-offs: all its comparisons are corrected
together (Holm).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice

import numpy as np

from letorbench.analysis.leads import ALPHA, Lead
from letorbench.analysis.paired import holm
from letorbench.papers.claims import Claim, Point, Test
from letorbench.papers.runs import ByMethod, Measured, Values

#: the share of the lower method's number that matters where the paper prints no difference
MARGIN = 0.03
#: what two implementations of a method differ by, as a share of the number: the same program with
#: sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED
IMPLEMENTATIONS = 0.01

REPRODUCED = "reproduced"
NOT_REPRODUCED = "not reproduced"
UNDECIDED = "undecided"
DEPENDS = "depends on"
NO_DATA, NOT_RUN = "no data", "not run"
ANSWERS = (REPRODUCED, NOT_REPRODUCED, DEPENDS, UNDECIDED, NO_DATA, NOT_RUN)
SHOWN, EXCLUDED, OPEN = "shown", "excluded", "open"
#: what was drawn independently, in the plural
UNITS = {"query": "queries", "query and seed": "queries, and seeds", "draw": "draws"}


def lead_of(upper: Values, lower: Values, measure: str) -> Lead:
    """The lead of one method's values over another's on the same queries."""
    return Lead.of(upper.table(measure), lower.table(measure), lower.folds, lower.draws)


def margin_of(test: Test, point: Point) -> float:
    """The share of the lower method's number that a comparison is judged against.

    What is called comparable may differ by as much as any of its printed numbers do; what is called
    not below, by as much as any falls short.
    """
    if test.kind == "above":
        return point.lead if point.lead is not None and point.lead > 0.0 else MARGIN
    leads = [each.lead for each in test.points() if each.lead is not None]
    short = [-lead for lead in leads if lead < 0.0]
    printed = short if test.kind == "not below" else [abs(lead) for lead in leads]
    return max(printed, default=MARGIN)


def questions(kind: str, lead: Lead, margin: float) -> tuple[np.ndarray, np.ndarray]:
    """(shown, excluded): p of each question, to be compared with ALPHA; margin: a difference.

    above: shown where the lead is above zero, excluded where it is below the margin. not below: on
    either side of minus the margin. alike: shown within the margin, excluded outside.
    """
    if kind == "above":
        shown, excluded = lead.above(), lead.below(margin)
    elif kind == "not below":
        shown, excluded = lead.above(-margin), lead.below(-margin)
    else:
        shown = np.maximum(lead.above(-margin), lead.below(margin))
        excluded = np.minimum(lead.below(-margin), lead.above(margin))
    return np.minimum(2.0 * shown, 1.0), np.minimum(2.0 * excluded, 1.0)


def bayes_factor(lead: Lead, effect: float) -> float:
    """The replication Bayes factor: the paper's effect against none, given our t.

    The effect is known to the paper as well as to us, from as many units: a normal prior with its
    printed size and our standard error. J. Verhagen, E.-J. Wagenmakers, Bayesian Tests to Quantify
    the Result of a Replication Attempt, J. Experimental Psychology: General 143, 2014.
    """
    from scipy.stats import chi2, norm

    error, degrees = float(lead.error), float(lead.degrees)
    if not 0.0 < error < math.inf:
        return math.nan
    # a t is a normal number over the root of a chi-squared one, here taken at its quantiles
    s = np.sqrt(chi2.ppf((np.arange(1_000) + 0.5) / 1_000, degrees) / degrees)
    at = float(lead.mean) / error * s
    likely = (s * norm.pdf(at, effect / error, math.sqrt(2.0))).mean()
    return float(likely / max((s * norm.pdf(at)).mean(), 1e-300))


@dataclass(frozen=True)
class Row:
    """What came out of one comparison or number of a claim.

    kind, place, what: the test, the data, and what is compared or measured. state: `SHOWN`,
    `EXCLUDED` or `OPEN`, after Holm's correction within the claim. value, low, high: our lead (or
    number) with its 95 % interval. printed: the paper's lead, in our lower method's units, or its
    number. margin, smallest: what a lead is judged against; the smallest lead that shows in 80 % of
    cases. base: the lower method's mean. shown, excluded: the corrected p of both questions.
    factor: the replication Bayes factor. units, note, group: how many of what were drawn; what else
    is to be said; the group that a count counts.
    """

    kind: str
    place: str
    what: str
    state: str
    value: float
    low: float
    high: float
    printed: float | None = None
    margin: float | None = None
    smallest: float | None = None
    base: float | None = None
    shown: float | None = None
    excluded: float | None = None
    factor: float | None = None
    units: str = ""
    note: str = ""
    group: str = ""


@dataclass(frozen=True)
class Outcome:
    """What came out of a claim.

    p, family: the p that the answer rests on, corrected within the claim, and over the paper's
    findings. by_setting: the answers of each setting, where they differ. place: the data that it
    was judged on, where those are not the claim's.
    """

    claim: Claim
    answer: str
    rows: tuple[Row, ...] = ()
    p: float | None = None
    family: float | None = None
    note: str = ""
    by_setting: Mapping[str, str] | None = None
    place: str = ""

    @property
    def corrected(self) -> str:
        """The answer where all findings of the paper are corrected together."""
        decided = self.answer in (REPRODUCED, NOT_REPRODUCED)
        return UNDECIDED if decided and (self.family or 0.0) >= ALPHA else self.answer


def judge(claim: Claim, values: ByMethod, numbers: Mapping[str, Measured]) -> Outcome:
    """Judge a claim by what its part's run found: values, and numbers by name."""
    found = [_rows(test, claim.nature, values, numbers) for test in claim.tests]
    every = corrected([row for rows, _ in found for row in rows])
    if not every:
        return Outcome(claim, NO_DATA)
    left, tried, answers = iter(every), [], []
    for test, (rows, gone) in zip(claim.tests, found):
        groups = _groups(test, list(islice(left, len(rows))))
        states = [[row.state for row in group] for group in groups]
        # a count takes what is not at hand for what could still show it
        answers.append(answer_of(states, test.least, test.of or len(states) + bool(gone)))
        tried.append((test, groups))
    if NOT_REPRODUCED in answers:
        against = [each for (_, each), own in zip(tried, answers) if own == NOT_REPRODUCED]
        answer, p = NOT_REPRODUCED, _p_against([*chain(*chain(*against))])
    else:
        answer = REPRODUCED if all(own == REPRODUCED for own in answers) else UNDECIDED
        # "all shown" is as strong as its weakest link
        p = max((_weakest(test, groups) for test, groups in tried if test.compares), default=None)
    missing = dict.fromkeys(name for _, gone in found for name in gone)
    note = f"without {', '.join(missing)}" if missing else ""
    return Outcome(claim, answer, tuple(every), p, note=note)


def _rows(
    test: Test, nature: str, values: ByMethod, numbers: Mapping[str, Measured]
) -> tuple[list[Row], list[str]]:
    """The rows of a test, and the data that it lacks, or its number.

    They are of comparisons, of a number of the part, or of means of a method.
    """
    rows, absent = list[Row](), list[str]()
    if test.compares:
        for point in test.points():
            of = values.get(point.dataset, {})
            if {point.upper, point.lower} <= of.keys():
                rows.append(comparison_row(test, point, of[point.upper], of[point.lower]))
            else:
                absent.append(point.dataset)
        return rows, absent
    if test.measures:
        rows = [
            number_row(test, nature, values[d][test.number].measured(m), d, f"{test.number}, {m}")
            for d in test.data
            for m in test.measures
            if test.number in values.get(d, {})
        ]
    elif test.number in numbers:
        rows = [number_row(test, nature, numbers[test.number], "", test.number)]
    return rows, [] if rows else list(test.data) or [test.number]


def comparison_row(test: Test, point: Point, upper: Values, lower: Values) -> Row:
    """Compare two methods, not corrected for the claim's other comparisons yet."""
    lead = lead_of(upper, lower, point.measure)
    margin = margin_of(test, point) * abs(lead.base)
    printed = None if point.lead is None else point.lead * lead.base
    effect = printed if printed else margin if test.kind == "above" else None
    shown, excluded = map(float, questions(test.kind, lead, margin))
    low, high = lead.interval()
    return Row(
        test.kind, point.dataset, f"{point.upper} over {point.lower}, {point.measure}",
        OPEN, float(lead.mean), low, high, printed, margin, lead.smallest(), lead.base,
        shown, excluded, None if effect is None else bayes_factor(lead, effect),
        f"{lead.units} {UNITS[lead.unit]}",
        "the same difference everywhere: nothing is compared" if lead.same else "",
        point.group,
    )  # fmt: skip


def number_row(test: Test, nature: str, ours: Measured, place: str, what: str) -> Row:
    """Judge a number: within half a unit of the last digit, what is left to chance, and 1 %.

    The 1 %, for two implementations, is for findings alone. "At least" and "at most" are open
    where the interval holds the number.
    """
    theirs = test.printed
    assert theirs is not None
    slack = test.half + (IMPLEMENTATIONS * abs(theirs) if nature == "finding" else 0.0)
    if test.kind == "equal":
        holds = ours.low - slack <= theirs <= ours.high + slack
        fails = not holds
    elif test.kind == "at least":
        holds, fails = ours.low >= theirs - slack, ours.high < theirs - slack
    else:
        holds, fails = ours.high <= theirs + slack, ours.low > theirs + slack
    return Row(
        test.kind, place, what, SHOWN if holds else EXCLUDED if fails else OPEN, ours.value,
        ours.low, ours.high, theirs, note=ours.note,
    )  # fmt: skip


def corrected(rows: Sequence[Row]) -> list[Row]:
    """A claim's rows, its comparisons corrected together; a number has no p."""
    shown, excluded = _holm([row.shown for row in rows]), _holm([row.excluded for row in rows])
    return [
        row if a is None or b is None
        else replace(row, shown=a, excluded=b, state=state_of(a, b))
        for row, a, b in zip(rows, shown, excluded)
    ]  # fmt: skip


def _holm(ps: Sequence[float | None]) -> list[float | None]:
    """Holm's correction of those p-values that there are."""
    adjusted = iter(holm(np.array([p for p in ps if p is not None], dtype=float)).tolist())
    return [None if p is None else next(adjusted) for p in ps]


def state_of(shown: float, excluded: float) -> str:
    """What two corrected p-values say; a lead that shows is not excluded."""
    return SHOWN if shown < ALPHA else EXCLUDED if excluded < ALPHA else OPEN


def answer_of(
    groups: Sequence[Sequence[str]], least: int | None = None, of: int | None = None
) -> str:
    """The answer of a sentence that holds where `least` groups of `of` show it.

    Without a count all of them must. A group shows it where all its comparisons do, and cannot
    where one is excluded; a group that is not at hand could.
    """
    of = of or len(groups)
    least = least or of
    shows = sum(all(state == SHOWN for state in group) for group in groups)
    cannot = sum(EXCLUDED in group for group in groups)
    if shows >= least:
        return REPRODUCED
    return NOT_REPRODUCED if of - cannot < least else UNDECIDED


def _p_against(rows: Sequence[Row]) -> float | None:
    """The p of a refutation, for which one exclusion is enough; None where a number refutes."""
    if any(row.state == EXCLUDED and row.excluded is None for row in rows):
        return None
    return min(row.excluded for row in rows if row.excluded is not None)


def _weakest(test: Test, groups: Sequence[Sequence[Row]]) -> float:
    """The largest p of what a test needs: a count needs no more groups than it asks for."""
    weakest = sorted(max(row.shown or 0.0 for row in group) for group in groups)
    needed = test.least or len(weakest)
    return weakest[needed - 1] if 0 < needed <= len(weakest) else 1.0


def _groups(test: Test, rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each group that a count counts; each row where there is no count."""
    groups: dict[str | int, list[Row]] = {}
    for i, row in enumerate(rows):
        groups.setdefault(i if test.least is None else row.group, []).append(row)
    return list(groups.values())


def over_settings(outcomes: Mapping[str, Outcome]) -> Outcome:
    """One claim's outcomes by setting or protocol: "depends on" where two answers differ.

    A setting that has no answer says nothing. The rows are the first one's.
    """
    silent = (NO_DATA, NOT_RUN)
    told = {name: each for name, each in outcomes.items() if each.answer not in silent}
    first = next(iter(told or outcomes))
    answers = {name: each.answer for name, each in told.items()}
    if len(set(answers.values())) < 2:
        return outcomes[first]
    return replace(outcomes[first], answer=DEPENDS, by_setting=answers)


def over_family(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """Holm's correction over the findings of a paper that rest on a p."""
    adjusted = _holm([each.p for each in outcomes])
    return [replace(each, family=p) for each, p in zip(outcomes, adjusted)]
