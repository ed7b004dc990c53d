"""The rules that judge the claims of every paper; docs/papers/rules.md has the reasons.

Each part of a claim has one estimand: a mean relative lead, a balance of gains and losses, or a
number. Queries, seeds and draws of data are resampled, for all its comparisons together. The answer
follows from the 95 % interval and the paper's sign or number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from letorbench.papers.paper import Claim, Point, Test
from letorbench.papers.runs import ByMethod, Estimate, are_draws, seeds_mean
from letorbench.results.per_query import PerQuery

#: how much two implementations of a method may differ, as a fraction of the number: one program
#: with sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED
BAND = 0.01
#: the lead that data should be able to decide if the paper prints none
EFFECT = 0.03
#: the number of resamples
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
class Verdict:
    """The answer to one part of a claim, with our number and the paper's."""

    #: of the claim; "" if it has one part
    part: str
    kind: str
    #: the data, and what is estimated
    place: str
    what: str
    answer: str
    #: our number and its 95 % interval; leads are fractions of the lower mean
    value: float
    low: float
    high: float
    #: the paper's number
    printed: float | None = None
    #: how many of several comparisons are positive
    count: str = ""
    #: what was resampled, and how many
    units: str = ""
    note: str = ""


#: one comparison: data, what, our lead with its interval, the paper's lead
Compared = tuple[str, str, float, float, float, float | None]


@dataclass(frozen=True)
class Outcome:
    """The answer to a claim, the verdict on each part (`rows`), and every comparison."""

    claim: Claim
    answer: str
    rows: tuple[Verdict, ...] = ()
    points: tuple[Compared, ...] = ()
    note: str = ""
    #: other answers, by the setting or protocol that gives them
    by_setting: Mapping[str, str] | None = None
    #: the data that it was judged on, if these are not the claim's
    place: str = ""


def resampled(
    of: Mapping[str, PerQuery], measures: Sequence[str], draws: int = DRAWS, seed: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> (1 + draws,) means of a data set's methods, the observed ones first.

    The queries of each fold are resampled, the same for every method, and the trainings of each
    fold of a method with several seeds. Of generated data whole draws are resampled.
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
            table = np.moveaxis(tables, 0, -1)  # (n_repeats, n_queries, n_measures)
            if are_draws(values):
                total += whole[:, [i]] * table.mean(axis=(0, 1)) * len(numbers)
                continue
            seeds = _weights(rng, len(table), draws)
            total += sum(s[:, None] * (again[k] @ each) for s, each in zip(seeds.T, table))
        for m, mean in zip(measures, (total / len(numbers)).T):
            found[name, m] = mean
    return found


def _weights(rng: np.random.Generator, n: int, draws: int) -> np.ndarray:
    """(1 + draws, n) weights with the sum 1: equal ones first, then resamples of n units."""
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
    return np.vstack([np.ones(n), drawn]) / n


def interval(found: np.ndarray, n: int, tried: int = 1) -> tuple[float, float, float]:
    """The observed number and the 95 % interval of (1 + draws,) numbers, resampled from n units.

    The upper end holds for all of `tried` such numbers (Bonferroni). The percentiles are widened as
    those of Student's t for few units: T. Hesterberg, What Teachers Should Know About the
    Bootstrap, The American Statistician 69, 2015, section 3.3.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return float(found[0]), float("-inf"), float("inf")
    t = stdtrit(n - 1, (0.025, 1.0 - 0.025 / tried))
    low, high = np.quantile(found[1:], ndtr(np.sqrt(n / (n - 1.0)) * t))
    return float(found[0]), float(low), float(high)


def answer_of(low: float, high: float, printed: float | None = None) -> str:
    """The answer for a lead that is above zero in the paper."""
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
    """The answer for what the paper calls comparable ("alike") or not worse ("not below")."""
    if low >= -band and (kind == "not below" or high <= band):
        return AGREES
    if high < -band or (kind == "alike" and low > band):
        return OPPOSITE
    return CANNOT_TELL


def judge(
    claim: Claim, values: ByMethod, numbers: Mapping[str, Estimate], draws: int = DRAWS
) -> Outcome:
    """Judge a claim by the values of methods, and by numbers, that its part's run gave."""
    verdicts, points, absent = list[Verdict](), list[Compared](), dict[str, None]()
    for test in claim.tests:
        if test.compares:
            every = list(test.points())
            here = [p for p in every if {p.upper, p.lower} <= values.get(p.dataset, {}).keys()]
            absent |= dict.fromkeys(p.dataset for p in every if p not in here)
            if here:
                verdict, comparisons = compared(test, here, values, draws)
                verdicts.append(verdict)
                points += comparisons
        else:
            given = _numbers(test, values, numbers)
            verdicts += [_number_verdict(test, claim.nature, *each) for each in given]
            absent |= dict.fromkeys(() if given else test.data or (test.number,))
    if not verdicts:
        return Outcome(claim, NOT_TRIED)
    without = f"without {', '.join(absent)}" if absent else ""
    answer = combined(each.answer for each in verdicts)
    return Outcome(claim, answer, tuple(verdicts), tuple(points), without)


def combined(answers: Iterable[str]) -> str:
    """The answer to a claim of several parts."""
    different = set(answers)
    if SLIP in different:
        return SLIP
    return different.pop() if len(different) == 1 else IN_PART


def compared(
    test: Test, here: Sequence[Point], values: ByMethod, draws: int = DRAWS
) -> tuple[Verdict, list[Compared]]:
    """The verdict on the comparisons of a test for which there are data, and each of them."""
    measures = list(dict.fromkeys(p.measure for p in here))
    places = list(dict.fromkeys(p.dataset for p in here))
    means, units, drawn = {}, list[int](), list[str]()
    for place in places:
        used = dict.fromkeys(m for p in here if p.dataset == place for m in (p.upper, p.lower))
        methods = {name: values[place][name] for name in used}
        first = next(iter(methods.values()))
        units.append(len(first.folds))
        drawn.append(f"{units[-1]} {'draws' if are_draws(first) else 'queries'}")
        for (name, measure), mean in resampled(methods, measures, draws).items():
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
        beyond = f"gain and {down} lose more than {100.0 * test.beyond:g} %"
        count = f"{up} of {len(here)} comparisons {beyond}; {count}"
    else:
        value, low, high = interval(leads.mean(axis=0), n)
        in_paper = [p.lead for p in here if p.lead is not None]
        printed = float(np.mean(in_paper)) if len(in_paper) == len(here) else None
    least, note = EFFECT if printed is None else abs(printed), ""
    if test.kind in ("alike", "not below"):
        least = max([BAND, *(abs(p.lead) for p in test.points() if p.lead is not None)])
        answer, note = equivalence(test.kind, low, high, least), f"within {least:.1%}"
    else:
        answer = answer_of(low, high, printed)
    if answer == CANNOT_TELL:
        none = "nothing to compare with" if np.isnan(high) else f"at most {high:+.1%}"
        # too wide for the paper's effect to be found in half of the cases: an interval shrinks as
        # n^-1/2, and one that must be on both sides of 0 needs more room
        ratio = (high - low) / 2.0 / least * (1.34 if test.kind == "alike" else 1.0)
        takes = f"{float(f'{sum(units) * ratio**2:.2g}'):,.0f} {drawn[0].split()[1]}"
        few = f"; these data cannot decide it: about {takes} are needed"
        note = (note or none) + few * (test.kind != "one-sided" and 1.0 < ratio < np.inf)
    covered = ", ".join(places)
    if len(places) < len(test.data):
        covered += f", {len(places)} of {len(test.data)} sets"
    what = {"best": "lead over the best of the others", "one-sided": "gains minus losses"}
    verdict = Verdict(
        test.part, test.kind, covered, what.get(test.kind, "mean lead"), answer, value, low, high,
        printed, count if len(here) > 1 else "", " + ".join(drawn), note,
    )  # fmt: skip
    return verdict, each


def _places(here: Sequence[Point], leads: np.ndarray) -> str:
    """The places of the upper method over data sets and measures, and how often it is the first."""
    behind: dict[tuple[str, str], int] = {}
    for p, lead in zip(here, leads):
        behind[p.dataset, p.measure] = behind.get((p.dataset, p.measure), 1) + bool(lead <= 0.0)
    of = len({p.lower for p in here}) + 1
    found = sorted(behind.values())
    span = f"{found[0]}" if found[0] == found[-1] else f"{found[0]} to {found[-1]}"
    return f"rank {span} of {of}, best at {found.count(1)} of {len(found)}"


def _numbers(
    test: Test, values: ByMethod, numbers: Mapping[str, Estimate]
) -> list[tuple[Estimate, str, str]]:
    """The number of a test with its data and name: a method's mean, or a number of the part."""
    if test.measures:
        return [
            (seeds_mean(values[d][test.number], m), d, f"{test.number}, {m}")
            for d in test.data for m in test.measures if test.number in values.get(d, {})
        ]  # fmt: skip
    return [(numbers[n], "", n) for n in (test.number,) if n in numbers]


def _number_verdict(test: Test, nature: str, ours: Estimate, place: str, what: str) -> Verdict:
    """Judge a number: half a unit of the last digit, our interval and the band are allowed.

    The band, for two implementations, is for findings alone. A worked example that was truncated,
    or has another known slip, agrees with that slip.
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
    return Verdict(
        test.part, test.kind, place, what, answer, ours.value, ours.low, ours.high, theirs,
        note=note,
    )  # fmt: skip


def over_settings(outcomes: Mapping[str, Outcome]) -> Outcome:
    """The first of a claim's outcomes by setting or protocol, with the other answers of others."""
    tried = {n: o for n, o in outcomes.items() if o.answer not in (NOT_TRIED, NOT_RUN)}
    first = next(iter(tried or outcomes))
    others = {n: o.answer for n, o in tried.items() if o.answer != outcomes[first].answer}
    return replace(outcomes[first], by_setting=others) if others else outcomes[first]
