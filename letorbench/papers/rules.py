"""The rules by which claims are judged, the same for every paper; docs/papers/rules.md has reasons.

A part of a sentence has one estimand: a mean relative lead, a balance of gains and losses, or a
number. What was drawn (queries, seeds, draws of data) is drawn again, for all its comparisons
together. The 95 % interval of that, beside the paper's sign or number, is the answer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from letorbench.papers.claims import Claim, Point, Test
from letorbench.papers.runs import ByMethod, Measured, are_draws, seeds_mean
from letorbench.results.per_query import PerQuery

#: what two implementations of a method differ by, as a share of the number: the same program with
#: sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED
BAND = 0.01
#: the lead that data should be able to tell where the paper prints none
EFFECT = 0.03
#: how often is drawn again
DRAWS = 2_000

AGREES, NO_DIFFERENCE, OPPOSITE = "agrees", "no difference", "opposite"
SMALLER, LARGER = "same direction, smaller", "same direction, larger"
CANNOT_TELL, IN_PART = "cannot tell", "in part"
NOT_TRIED, NOT_RUN = "not tried", "not run"
CHECKED, SLIP = "checked", "slip"
ANSWERS = (
    AGREES, IN_PART, SMALLER, LARGER, NO_DIFFERENCE, OPPOSITE, CANNOT_TELL, NOT_TRIED, NOT_RUN,
    CHECKED, SLIP,
)  # fmt: skip


@dataclass(frozen=True)
class Row:
    """The answer of one part of a claim.

    part: which part of the sentence; "" where there is one. place, what: the data, and what is
    estimated. value, low, high: ours with its 95 % interval; a lead is a share of the lower mean.
    printed: the paper's, in the same units. count: of several comparisons how many are positive.
    units: how many of what were drawn. note: what else is to be said.
    """

    part: str
    kind: str
    place: str
    what: str
    answer: str
    value: float
    low: float
    high: float
    printed: float | None = None
    count: str = ""
    units: str = ""
    note: str = ""


#: one comparison: data, what, our lead with its interval, the paper's lead
Compared = tuple[str, str, float, float, float, float | None]


@dataclass(frozen=True)
class Outcome:
    """What came out of a claim.

    points: each comparison. by_setting: the answers of other settings and protocols where they
    differ. place: the data that it was judged on, where those are not the claim's.
    """

    claim: Claim
    answer: str
    rows: tuple[Row, ...] = ()
    points: tuple[Compared, ...] = ()
    note: str = ""
    by_setting: Mapping[str, str] | None = None
    place: str = ""


def resampled(
    of: Mapping[str, PerQuery], measures: Sequence[str], draws: int = DRAWS, seed: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> (1 + draws,) means of a data set's methods, the observed ones first.

    The queries of each fold are drawn again, the same for every method; of a method with several
    seeds its trainings of each fold, too. Of generated data whole draws are.
    """
    rng = np.random.default_rng(seed)
    folds = next(iter(of.values())).folds
    numbers = np.unique(folds)
    again = {k: _weights(rng, int((folds == k).sum()), draws) for k in numbers}
    whole = _weights(rng, len(numbers), draws)
    found = {}
    for name, values in of.items():
        total = np.zeros((1 + draws, len(measures)))
        for i, k in enumerate(numbers):
            tables = np.stack([values.tables[m][:, folds == k] for m in measures])
            own = np.moveaxis(tables, 0, -1)  # (n_repeats, n_queries, n_measures)
            if are_draws(values):
                total += whole[:, [i]] * own.mean(axis=(0, 1)) * len(numbers)
                continue
            seeds = _weights(rng, len(own), draws)
            total += sum(s[:, None] * (again[k] @ each) for s, each in zip(seeds.T, own))
        for m, mean in zip(measures, (total / len(numbers)).T):
            found[name, m] = mean
    return found


def _weights(rng: np.random.Generator, n: int, draws: int) -> np.ndarray:
    """(1 + draws, n) weights with the sum 1: equal ones first, then n units drawn again."""
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
    return np.vstack([np.ones(n), drawn]) / n


def interval(found: np.ndarray, n: int, tried: int = 1) -> tuple[float, float, float]:
    """The observed number and the 95 % interval of (1 + draws,) numbers, drawn from n units.

    `tried` is of how many such numbers the upper end holds for all (Bonferroni).
    Its percentiles are widened as Student's t is, for which few units count: T. Hesterberg, What
    Teachers Should Know About the Bootstrap, The American Statistician 69, 2015, section 3.3.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return float(found[0]), float("-inf"), float("inf")
    t = stdtrit(n - 1, (0.025, 1.0 - 0.025 / tried))
    low, high = np.quantile(found[1:], ndtr(np.sqrt(n / (n - 1.0)) * t))
    return float(found[0]), float(low), float(high)


def answer_of(low: float, high: float, printed: float | None = None) -> str:
    """The answer of a lead that the paper has above zero; NaN is none."""
    held = printed is not None and 0.0 < low <= printed <= high
    if -BAND <= low and high <= BAND and not held:
        return NO_DIFFERENCE
    if high < 0.0:
        return OPPOSITE
    if not low > 0.0:
        return CANNOT_TELL
    if printed is None or held:
        return AGREES
    return SMALLER if high < printed else LARGER


def equivalence(kind: str, low: float, high: float, band: float) -> str:
    """The answer of what the paper calls comparable ("alike"), or not worse ("not below")."""
    if low >= -band and (kind == "not below" or high <= band):
        return AGREES
    if high < -band or (kind == "alike" and low > band):
        return OPPOSITE
    return CANNOT_TELL


def judge(
    claim: Claim, values: ByMethod, numbers: Mapping[str, Measured], draws: int = DRAWS
) -> Outcome:
    """Judge a claim by what its part's run found: values, and numbers by name."""
    rows, points, gone = list[Row](), list[Compared](), dict[str, None]()
    for test in claim.tests:
        if test.compares:
            every = list(test.points())
            here = [p for p in every if {p.upper, p.lower} <= values.get(p.dataset, {}).keys()]
            gone |= dict.fromkeys(p.dataset for p in every if p not in here)
            if here:
                row, own = compared(test, here, values, draws)
                rows.append(row)
                points += own
        else:
            given = _numbers(test, values, numbers)
            rows += [_number_row(test, claim.nature, *each) for each in given]
            gone |= dict.fromkeys(() if given else test.data or (test.number,))
    if not rows:
        return Outcome(claim, NOT_TRIED)
    without = f"without {', '.join(gone)}" if gone else ""
    return Outcome(claim, combined(row.answer for row in rows), tuple(rows), tuple(points), without)


def combined(answers: Iterable[str]) -> str:
    """One answer of a sentence's parts."""
    told = set(answers)
    if SLIP in told:
        return SLIP
    return told.pop() if len(told) == 1 else IN_PART


def compared(
    test: Test, here: Sequence[Point], values: ByMethod, draws: int = DRAWS
) -> tuple[Row, list[Compared]]:
    """The row of a test's comparisons that are at hand, and each of them."""
    measures = list(dict.fromkeys(p.measure for p in here))
    places = list(dict.fromkeys(p.dataset for p in here))
    means, units, drawn = {}, list[int](), list[str]()
    for place in places:
        used = dict.fromkeys(m for p in here if p.dataset == place for m in (p.upper, p.lower))
        own = {name: values[place][name] for name in used}
        first = next(iter(own.values()))
        units.append(len(first.folds))
        drawn.append(f"{units[-1]} {'draws' if are_draws(first) else 'queries'}")
        for (name, measure), mean in resampled(own, measures, draws).items():
            means[place, name, measure] = mean
    upper = np.array([means[p.dataset, p.upper, p.measure] for p in here])
    lower = np.array([means[p.dataset, p.lower, p.measure] for p in here])
    base = lower[:, :1]  # the observed lower means
    leads, n = (upper - lower) / np.where(base > 0.0, base, np.nan), min(units)
    each = [
        (p.dataset, f"{p.upper} over {p.lower}, {p.measure}", *interval(lead, n), p.lead)
        for p, lead in zip(here, leads)
    ]
    count, printed = f"{int((leads[:, 0] > 0.0).sum())} of {len(here)} leads above 0", None
    if test.kind == "best":
        count = f"{_places(here, leads[:, 0])}; {count}"
        others = {p.lower: leads[[q.lower == p.lower for q in here]].mean(axis=0) for p in here}
        ends = [interval(each, n, len(others)) for each in others.values()]
        value, low, high = (min(each) for each in zip(*ends))
    elif test.kind == "one-sided":
        found = (leads > test.beyond).mean(axis=0) - (leads < -test.beyond).mean(axis=0)
        up, down = (leads[:, 0] > test.beyond).sum(), (leads[:, 0] < -test.beyond).sum()
        value, low, high = interval(found, n)
        count = f"of {len(here)}, {up} gain and {down} lose more than {test.beyond:.0%}; {count}"
    else:
        value, low, high = interval(leads.mean(axis=0), n)
        told = [p.lead for p in here if p.lead is not None]
        printed = float(np.mean(told)) if len(told) == len(here) else None
    least, note = EFFECT if printed is None else abs(printed), ""
    if test.kind in ("alike", "not below"):
        least = max([BAND, *(abs(p.lead) for p in test.points() if p.lead is not None)])
        answer, note = equivalence(test.kind, low, high, least), f"within {least:.1%}"
    else:
        answer = answer_of(low, high, printed)
    if answer == CANNOT_TELL:
        none = "nothing to compare with" if np.isnan(high) else f"at most {high:+.1%}"
        # so wide that the paper's own effect has its answer in fewer than half of the cases: an
        # interval shrinks as n^-1/2, and one that is to be on both sides of 0 needs some more room
        ratio = (high - low) / 2.0 / least * (1.34 if test.kind == "alike" else 1.0)
        takes = f"{float(f'{sum(units) * ratio**2:.2g}'):,.0f} {drawn[0].split()[1]}"
        few = f"; cannot be told with these data: takes about {takes}"
        note = (note or none) + few * (test.kind != "one-sided" and 1.0 < ratio < np.inf)
    covered = ", ".join(places)
    if len(places) < len(test.data):
        covered += f", {len(places)} of {len(test.data)} sets"
    what = {"best": "lead over whichever other is best", "one-sided": "gains minus losses"}
    row = Row(
        test.part, test.kind, covered, what.get(test.kind, "mean lead"), answer, value, low, high,
        printed, count if len(here) > 1 else "", " + ".join(drawn), note,
    )  # fmt: skip
    return row, each


def _places(here: Sequence[Point], leads: np.ndarray) -> str:
    """Which place the upper method has among all, at how many data sets and measures."""
    behind: dict[tuple[str, str], int] = {}
    for p, lead in zip(here, leads):
        behind[p.dataset, p.measure] = behind.get((p.dataset, p.measure), 1) + bool(lead <= 0.0)
    of = len({p.lower for p in here}) + 1
    found = sorted(behind.values())
    span = f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"
    return f"place {span} of {of}, the first at {found.count(1)} of {len(found)}"


def _numbers(
    test: Test, values: ByMethod, numbers: Mapping[str, Measured]
) -> list[tuple[Measured, str, str]]:
    """The number of a test with its place and name: a method's mean, or one of the part's."""
    if test.measures:
        return [
            (seeds_mean(values[d][test.number], m), d, f"{test.number}, {m}")
            for d in test.data for m in test.measures if test.number in values.get(d, {})
        ]  # fmt: skip
    return [(numbers[n], "", n) for n in (test.number,) if n in numbers]


def _number_row(test: Test, nature: str, ours: Measured, place: str, what: str) -> Row:
    """Judge a number: within half a unit of the last digit, what is left to chance, and the band.

    The band, for two implementations, is for findings alone. A worked example that was cut and not
    rounded, or has a slip beside its number, agrees with that slip.
    """
    theirs, note = test.printed, ours.note
    assert theirs is not None
    slack = test.half + (BAND * abs(theirs) if nature == "finding" else 0.0)
    bound = {"at most": (-np.inf, theirs + slack), "at least": (theirs - slack, np.inf)}
    least, most = bound.get(test.kind, (theirs - slack, theirs + slack))
    holds = ours.low <= most and ours.high >= least
    if nature != "finding":
        cut = theirs <= ours.value < theirs + 2.0 * test.half
        slipped = test.slip and (cut or holds)
        right = CHECKED if nature == "theory" else AGREES
        answer = right if holds or slipped else SLIP
        note = "; ".join(filter(None, [f"slip: {test.slip}" if slipped else "", note]))
    elif test.kind == "equal":
        answer = AGREES if holds else SMALLER if ours.high < least else LARGER
    else:
        within = least <= ours.low and ours.high <= most
        beyond = ours.low > most or ours.high < least
        answer = AGREES if within else OPPOSITE if beyond else CANNOT_TELL
    return Row(
        test.part, test.kind, place, what, answer, ours.value, ours.low, ours.high, theirs,
        note=note,
    )  # fmt: skip


def over_settings(outcomes: Mapping[str, Outcome]) -> Outcome:
    """The first of a claim's outcomes by setting or protocol, and what others say otherwise."""
    told = {n: o for n, o in outcomes.items() if o.answer not in (NOT_TRIED, NOT_RUN)}
    first = next(iter(told or outcomes))
    others = {n: o.answer for n, o in told.items() if o.answer != outcomes[first].answer}
    return replace(outcomes[first], by_setting=others) if others else outcomes[first]
