"""The rules by which claims are judged, the same for every paper; docs/papers/rules.md has reasons.

A comparison has two questions: do the data *show* what the sentence says, and do they *exclude* it?
Both are answered by one 95 % interval of the lead, as a whole on one side of a bound or not.

above       shown: the lead is above zero. Excluded: the lead that the paper prints (3 % of the
            lower method's number where it prints none) lies above the 95 % interval.
not below   shown: the lead is above minus the margin. Excluded: it is below that.
alike       shown: the lead is within the margin. Excluded: it is outside.

The margin of the last two is the largest difference that the paper prints of what it calls
comparable, and 3 % where it prints none. The unit is what was drawn independently: a draw of
generated data with its training, else queries and, where there are several, seeds.

A sentence covers data sets, methods, versions and cut-offs: all its comparisons are corrected
together (Holm). It is reproduced where all of them are shown, not reproduced where one is excluded,
else undecided. A sentence that counts ("on 3 data sets") is judged by how many groups show it, and
by how many still could.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from letorbench.analysis.leads import ALPHA, Lead
from letorbench.analysis.paired import holm
from letorbench.papers.claims import Claim, Point, Test
from letorbench.papers.runs import Measured, Values

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
    """(shown, excluded): p of each question, to be compared with ALPHA; margin: a difference."""
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

    error = float(lead.error)
    if not 0.0 < error < math.inf:
        return math.nan
    # a t is a normal number over the root of a chi-squared one, here taken at its quantiles
    degrees = float(lead.degrees)
    s = np.sqrt(chi2.ppf((np.arange(1_000) + 0.5) / 1_000, degrees) / degrees)
    at = float(lead.mean) / error * s
    likely = (s * norm.pdf(at, effect / error, math.sqrt(2.0))).mean()
    return float(likely / max((s * norm.pdf(at)).mean(), 1e-300))


@dataclass(frozen=True)
class Row:
    """What came out of one comparison or number of a claim.

    Parameters
    ----------
    kind, place, what : str
        The test, the data, and what is compared or measured.
    state : str
        `SHOWN`, `EXCLUDED` or `OPEN`, after Holm's correction within the claim.
    value, low, high : float or None
        Our lead (or number) with its 95 % interval.
    printed : float or None
        The paper's lead, in our lower method's units, or its number.
    margin, smallest : float or None
        What a lead is judged against; the smallest lead that shows in 80 % of cases.
    base : float or None
        The lower method's mean.
    shown, excluded : float or None
        The corrected p of both questions.
    factor : float or None
        The replication Bayes factor.
    units, note : str
        How many of what were drawn; what else is to be said.
    """

    kind: str
    place: str
    what: str
    state: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    printed: float | None = None
    margin: float | None = None
    smallest: float | None = None
    base: float | None = None
    shown: float | None = None
    excluded: float | None = None
    factor: float | None = None
    units: str = ""
    note: str = ""


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


def judge(
    claim: Claim,
    values: Mapping[str, Mapping[str, Values]],
    numbers: Mapping[str, Measured],
) -> Outcome:
    """Judge a claim by what its part's run found.

    values: data set -> method -> values; numbers: by name.
    """
    compared: list[tuple[int, Test, Point, Lead]] = []
    rows: list[list[Row]] = [[] for _ in claim.tests]
    absent: list[list[str]] = [[] for _ in claim.tests]
    for i, test in enumerate(claim.tests):
        for point in test.points() if test.compares else ():
            found = values.get(point.dataset, {})
            if point.upper in found and point.lower in found:
                lead = lead_of(found[point.upper], found[point.lower], point.measure)
                compared.append((i, test, point, lead))
            else:
                absent[i].append(point.dataset)
        if not test.compares:
            rows[i] += _numbers(test, claim.nature, values, numbers)
            absent[i] += [] if rows[i] else (list(test.data) or [test.number])
    for (i, *_), row in zip(compared, corrected([each[1:] for each in compared])):
        rows[i].append(row)
    if not any(rows):
        return Outcome(claim, NO_DATA)
    told = list(zip(claim.tests, rows))
    answers = [answer_of(test, own, bool(gone)) for (test, own), gone in zip(told, absent)]
    answer = _all_of(answers)
    missing = dict.fromkeys(name for gone in absent for name in gone)
    note = f"without {', '.join(missing)}" if missing else ""
    every = tuple(row for own in rows for row in own)
    return Outcome(claim, answer, every, p_of(answer, list(zip(told, answers))), note=note)


def corrected(compared: Sequence[tuple[Test, Point, Lead]]) -> list[Row]:
    """The rows of a claim's comparisons, all corrected together."""
    if not compared:
        return []
    margins = [margin_of(test, point) * abs(lead.base) for test, point, lead in compared]
    ps = [questions(t.kind, lead, m) for (t, _, lead), m in zip(compared, margins)]
    shown, excluded = (holm(np.array(each, dtype=float)) for each in zip(*ps))
    rows = []
    for i, ((test, point, lead), margin) in enumerate(zip(compared, margins)):
        low, high = lead.interval()
        printed = None if point.lead is None else point.lead * lead.base
        effect = printed if printed else margin if test.kind == "above" else None
        rows.append(
            Row(
                test.kind, point.dataset, f"{point.upper} over {point.lower}, {point.measure}",
                state_of(shown[i], excluded[i]), float(lead.mean), low, high, printed, margin,
                lead.smallest(), lead.base, float(shown[i]), float(excluded[i]),
                None if effect is None else bayes_factor(lead, effect),
                f"{lead.units} {UNITS[lead.unit]}",
                "the same difference everywhere: nothing is compared" if lead.same else "",
            )
        )  # fmt: skip
    return rows


def state_of(shown: float, excluded: float) -> str:
    """What two corrected p-values say; a lead that shows is not excluded."""
    return SHOWN if shown < ALPHA else EXCLUDED if excluded < ALPHA else OPEN


def answer_of(test: Test, rows: Sequence[Row], partial: bool = False) -> str:
    """What the states of a test's rows say of it; partial: some of its data are not at hand.

    A count takes what is not at hand for what could still show it.
    """
    if test.least is None:
        return answer_of_all([row.state for row in rows], partial)
    states = [[row.state for row in group] for group in _groups(test, rows)]
    return answer_of_count(states, test.least, test.of or len(states))


def answer_of_all(states: Sequence[str], partial: bool = False) -> str:
    """The answer of a sentence that holds only where each of its comparisons does."""
    if EXCLUDED in states:
        return NOT_REPRODUCED
    return UNDECIDED if OPEN in states or partial else REPRODUCED


def answer_of_count(groups: Sequence[Sequence[str]], least: int, of: int) -> str:
    """The answer of a sentence that holds where `least` groups of `of` show it.

    A group shows it where all its comparisons do, and cannot where one is excluded; a group that
    is not at hand could.
    """
    shows = sum(all(state == SHOWN for state in group) for group in groups)
    cannot = sum(EXCLUDED in group for group in groups)
    if shows >= least:
        return REPRODUCED
    return NOT_REPRODUCED if of - cannot < least else UNDECIDED


def _all_of(answers: Sequence[str]) -> str:
    if NOT_REPRODUCED in answers:
        return NOT_REPRODUCED
    return REPRODUCED if all(answer == REPRODUCED for answer in answers) else UNDECIDED


def p_of(answer: str, told: Sequence[tuple[tuple[Test, Sequence[Row]], str]]) -> float | None:
    """The p that an answer rests on, of each test with its rows and its own answer.

    "All shown" is as strong as its weakest link, a count as the last group that it needs; one
    exclusion is enough to refute. None where the answer rests on a number, which has no p.
    """
    if answer == NOT_REPRODUCED:
        against = [row for (_, rows), own in told if own == answer for row in rows]
        if any(row.state == EXCLUDED and row.excluded is None for row in against):
            return None
        return min(row.excluded for row in against if row.excluded is not None)
    ps = [_weakest(test, rows) for (test, rows), _ in told if test.compares]
    return max(ps, default=None)


def _weakest(test: Test, rows: Sequence[Row]) -> float:
    """The largest p of what a test needs."""
    needed = test.least or 1
    groups = _groups(test, rows) if test.least is not None else [list(rows)]
    weakest = sorted(max((row.shown or 0.0 for row in group), default=1.0) for group in groups)
    return weakest[needed - 1] if needed <= len(weakest) else 1.0


def _groups(test: Test, rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each group that a count counts."""
    places = {row.place for row in rows}
    groups: dict[str, list[Row]] = {}
    for row, point in zip(rows, (p for p in test.points() if p.dataset in places)):
        groups.setdefault(point.group, []).append(row)
    return list(groups.values())


def _numbers(
    test: Test,
    nature: str,
    values: Mapping[str, Mapping[str, Values]],
    numbers: Mapping[str, Measured],
) -> list[Row]:
    """The rows of a number: one that the part measured, or a method's mean on each data set."""
    if not test.measures:
        found = numbers.get(test.number)
        return [] if found is None else [number_row(test, nature, found, "", test.number)]
    return [
        number_row(
            test, nature, values[d][test.number].measured(m), d, f"{test.number}, {m}"
        )
        for d in test.data
        for m in test.measures
        if test.number in values.get(d, {})
    ]  # fmt: skip


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
    tested = [i for i, each in enumerate(outcomes) if each.p is not None]
    found = list(outcomes)
    if tested:
        adjusted = holm(np.array([outcomes[i].p for i in tested], dtype=float))
        for i, p in zip(tested, adjusted.tolist()):
            found[i] = replace(found[i], family=p)
    return found
