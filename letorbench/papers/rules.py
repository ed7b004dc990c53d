"""The rules that judge the claims of every paper; docs/papers/rules.md has the reasons.

Each part of a claim has one estimand: a mean relative lead, a balance of gains and losses, or a
number. Queries, seeds and draws of data are resampled, for all its comparisons together. The answer
follows from the 95 % interval and the paper's sign or number. It stands if it is the same in nearly
every specification of what the paper leaves open, and after a correction for several headlines.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from letorbench.papers.paper import Claim, Point, Test
from letorbench.papers.runs import ByMethod, Estimate, are_draws, seeds_mean
from letorbench.results.per_query import PerQuery

#: how much two implementations of a method may differ, as a fraction of the number: one program
#: with sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED
BAND = 0.01
#: an answer stands in at least this fraction of the specifications
STANDS = 0.9
#: the most headline results of a paper for which an answer is corrected
MOST = 30
#: the lead that data should be able to decide if the paper prints none
EFFECT = 0.03
#: the number of resamples
DRAWS = 2_000

AGREES, NO_DIFFERENCE, OPPOSITE = "agrees", "no difference", "opposite"
SMALLER, LARGER = "same direction, smaller", "same direction, larger"
CANNOT_TELL, IN_PART = "cannot tell", "in part"
NOT_TRIED, NOT_RUN = "not tried", "not run"
NOT_HELD, DEPENDS = "does not hold", "depends on"
CHECKED, SLIP = "checked", "slip"
ANSWERS = (
    AGREES, IN_PART, SMALLER, LARGER, NO_DIFFERENCE, OPPOSITE, NOT_HELD, DEPENDS, CANNOT_TELL,
    NOT_TRIED, NOT_RUN, CHECKED, SLIP,
)  # fmt: skip


def named(answer: str) -> str:
    """The answer as ANSWERS has it, without the choice that it depends on."""
    return DEPENDS if answer.startswith(DEPENDS) else answer


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
    #: the most tests among which the answer outlives Bonferroni's correction; None of a number
    among: int | None = None


#: one comparison: data, what, our lead with its interval, the paper's lead
Compared = tuple[str, str, float, float, float, float | None]
#: one specification of a part: part, data, specification, answer, our number with its interval
Specified = tuple[str, str, str, str, float, float, float]


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
    #: every specification of each part, ours first
    curve: tuple[Specified, ...] = ()
    #: of each row the verdicts on its data sets, until they have lines of their own
    sets: tuple[tuple[Verdict, ...], ...] = field(default=(), compare=False)


#: (part, data set) -> the variance of the part's number over re-splits of that set
Between = Mapping[tuple[str, str], float]


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


def interval(
    found: np.ndarray, n: int, tried: int = 1, level: float = 0.05, between: float = 0.0
) -> tuple[float, float, float]:
    """The observed number and the interval of (1 + draws,) numbers, resampled from n units.

    The upper end holds for all of `tried` such numbers (Bonferroni). `between` is the variance over
    training samples, of re-splits of the same queries; it adds to that of the resamples. The
    percentiles are widened as those of Student's t for few units: T. Hesterberg, What Teachers
    Should Know About the Bootstrap, The American Statistician 69, 2015, section 3.3.
    """
    from scipy.special import ndtr, ndtri, stdtrit

    if n < 2:
        return float(found[0]), float("-inf"), float("inf")
    drawn = found[1:]
    if between > 0.0:
        normal = ndtri((np.arange(len(drawn)) + 0.5) / len(drawn))
        drawn = drawn + np.sqrt(between) * np.random.default_rng(0).permutation(normal)
    t = stdtrit(n - 1, (level / 2.0, 1.0 - level / 2.0 / tried))
    low, high = np.quantile(drawn, ndtr(np.sqrt(n / (n - 1.0)) * t))
    return float(found[0]), float(low), float(high)


def answer_of(low: float, high: float, printed: float | None = None) -> str:
    """The answer for a lead that is above zero in the paper, by one band for all answers."""
    if -BAND <= low and high <= BAND:
        return NO_DIFFERENCE
    if high < -BAND:
        return OPPOSITE
    if not low > BAND:
        return CANNOT_TELL
    if printed is None or low <= printed <= high:
        return AGREES
    return SMALLER if high < printed else LARGER


def equivalence(kind: str, low: float, high: float, band: float) -> str:
    """The answer for what the paper calls comparable ("alike") or not worse ("not below")."""
    if low >= -band and (kind == "not below" or high <= band):
        return AGREES
    if high < -band or (kind == "alike" and low > band):
        return NOT_HELD
    return CANNOT_TELL


def judge(
    claim: Claim, values: ByMethod, numbers: Mapping[str, Estimate], draws: int = DRAWS,
    between: Between = {},
) -> Outcome:  # fmt: skip
    """Judge a claim by the values of methods, and by numbers, that its part's run gave."""
    verdicts, points, absent = list[Verdict](), list[Compared](), dict[str, None]()
    sets = list[tuple[Verdict, ...]]()
    for test in claim.tests:
        if test.compares:
            every = list(test.points())
            here = [p for p in every if {p.upper, p.lower} <= values.get(p.dataset, {}).keys()]
            absent |= dict.fromkeys(p.dataset for p in every if p not in here)
            if here:
                verdict, comparisons = compared(test, here, values, draws, between)
                verdicts.append(verdict)
                points += comparisons
                own = [
                    (d, [p for p in here if p.dataset == d]) for d in {p.dataset: 0 for p in here}
                ]
                each_set = (
                    replace(compared(test, each, values, draws, between)[0], place=d)
                    for d, each in own
                )
                sets.append(tuple(each_set) if len(own) > 1 else ())
        else:
            given = _numbers(test, values, numbers)
            verdicts += [_number_verdict(test, claim.nature, *each) for each in given]
            sets += [()] * len(given)
            absent |= dict.fromkeys(() if given else test.data or (test.number,))
    if not verdicts:
        return Outcome(claim, NOT_TRIED)
    without = f"without {', '.join(absent)}" if absent else ""
    answer = combined(each.answer for each in verdicts)
    return Outcome(claim, answer, tuple(verdicts), tuple(points), without, sets=tuple(sets))


def combined(answers: Iterable[str]) -> str:
    """The answer to a claim of several parts."""
    different = set(answers)
    if SLIP in different:
        return SLIP
    return different.pop() if len(different) == 1 else IN_PART


def compared(
    test: Test, here: Sequence[Point], values: ByMethod, draws: int = DRAWS, between: Between = {}
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
    parts = Counter(p.dataset for p in here)  # the mean is over comparisons
    split = sum((k / len(here)) ** 2 * between.get((test.part, d), 0.0) for d, k in parts.items())
    if test.kind == "best":
        count = f"{_places(here, leads[:, 0])}; {count}"
        others = {p.lower: leads[[q.lower == p.lower for q in here]].mean(axis=0) for p in here}
        found = list(others.values())
    elif test.kind == "one-sided":
        found = [(leads > test.beyond).mean(axis=0) - (leads < -test.beyond).mean(axis=0)]
        up, down = (leads[:, 0] > test.beyond).sum(), (leads[:, 0] < -test.beyond).sum()
        beyond = f"gain and {down} lose more than {100.0 * test.beyond:g} %"
        count = f"{up} of {len(here)} comparisons {beyond}; {count}"
    else:
        found = [leads.mean(axis=0)]
        in_paper = [p.lead for p in here if p.lead is not None]
        printed = float(np.mean(in_paper)) if len(in_paper) == len(here) else None
    least, note = EFFECT if printed is None else abs(printed), ""
    alike = test.kind in ("alike", "not below")
    if alike:
        least = max([BAND, *(abs(p.lead) for p in test.points() if p.lead is not None)])
        note = f"within {least:.1%}"

    def at(level: float) -> tuple[str, float, float, float]:
        ends = zip(*(interval(each, n, len(found), level, split) for each in found))
        value, low, high = (min(each) for each in ends)
        own = equivalence(test.kind, low, high, least) if alike else answer_of(low, high, printed)
        return own, value, low, high

    answer, value, low, high = at(0.05)
    among = next((m for m in range(MOST) if at(0.05 / (m + 1))[0] == CANNOT_TELL), MOST)
    if answer == CANNOT_TELL:
        none = "nothing to compare with" if np.isnan(high) else f"at most {high:+.1%}"
        # too wide for the paper's effect to be found in half of the cases: an interval shrinks as
        # n^-1/2; it must be beyond the band, and one on both sides of 0 needs more room
        room = least if alike else max(least - BAND, 0.0)
        ratio = (high - low) / 2.0 / room * (1.34 if test.kind == "alike" else 1.0) if room else 0.0
        takes = f"{float(f'{sum(units) * ratio**2:.2g}'):,.0f} {drawn[0].split()[1]}"
        few = f"; these data cannot decide it: about {takes} are needed"
        note = (note or none) + few * (test.kind != "one-sided" and 1.0 < ratio < np.inf)
    covered = ", ".join(places)
    if len(places) < len(test.data):
        covered += f", {len(places)} of {len(test.data)} sets"
    what = {"best": "lead over the best of the others", "one-sided": "gains minus losses"}
    verdict = Verdict(
        test.part, test.kind, covered, what.get(test.kind, "mean lead"), answer, value, low, high,
        printed, count if len(here) > 1 else "", " + ".join(drawn), note, among,
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

    The band, for two implementations, is for findings alone. A worked example that is right only
    truncated, or in a unit that suits it, has that slip.
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
        answer = right if holds and not test.slip else SLIP
        note = "; ".join(filter(None, [f"slip: {test.slip}" if slipped else "", note]))
    elif test.kind == "equal":
        answer = AGREES if holds else SMALLER if ours.high < least else LARGER
    else:
        within = least <= ours.low and ours.high <= most
        beyond = ours.low > most or ours.high < least
        answer = AGREES if within else NOT_HELD if beyond else CANNOT_TELL
    return Verdict(
        test.part, test.kind, place, what, answer, ours.value, ours.low, ours.high, theirs,
        note=note,
    )  # fmt: skip


def over_specifications(
    outcomes: Mapping[str, Outcome], choices: Mapping[str, Mapping[str, str]] = {}
) -> Outcome:
    """The first of a claim's outcomes by specification, with answers that stand over all of them.

    choices: specification -> what it takes for each choice that the paper leaves open. Data sets
    whose numbers differ in sign, in any specification, have a line each.
    """
    tried = {n: o for n, o in outcomes.items() if o.answer != NOT_TRIED}
    if not tried:
        return next(iter(outcomes.values()))
    ours = next(iter(tried.values()))
    alike = {n: o for n, o in tried.items() if len(o.rows) == len(ours.rows)}  # no fold failed
    rows, curve = list[Verdict](), list[Specified]()
    for i in range(len(ours.rows)):
        apart = any(_differ_in_sign(o.sets[i]) for o in alike.values())
        lines = {n: o.sets[i] if apart else (o.rows[i],) for n, o in alike.items()}
        for by_name in zip(*([(n, each) for each in of] for n, of in lines.items())):
            row, verdicts = by_name[0][1], dict(by_name)
            rows.append(_over(row, {n: each.answer for n, each in verdicts.items()}, choices))
            if len(verdicts) > 1:
                curve += [
                    (row.part, row.place, n, v.answer, v.value, v.low, v.high)
                    for n, v in verdicts.items()
                ]
    answer = combined(row.answer for row in rows)
    return replace(ours, answer=answer, rows=tuple(rows), curve=tuple(curve), sets=())


def _differ_in_sign(sets: Sequence[Verdict]) -> bool:
    return len({bool(each.value > 0.0) for each in sets}) > 1


def _over(
    row: Verdict, answers: Mapping[str, str], choices: Mapping[str, Mapping[str, str]]
) -> Verdict:
    """Our verdict with an answer that stands, or the choice that turns it most."""
    same = {name: answer == row.answer for name, answer in answers.items()}
    if len(same) == 1:
        return row
    note = "; ".join(filter(None, [row.note, f"in {sum(same.values())} of {len(same)} "
                                   f"specifications: {row.answer}"]))  # fmt: skip
    if sum(same.values()) >= STANDS * len(same):
        return replace(row, note=note)

    def turned(choice: str) -> float:
        by_setting: dict[str, list[bool]] = {}
        for name, each in same.items():
            by_setting.setdefault(choices[name][choice], []).append(each)
        shares = [np.mean(each) for each in by_setting.values()]
        return float(max(shares) - min(shares))

    most = max(choices[next(iter(same))], key=turned)
    return replace(row, answer=f"{DEPENDS} {most}", note=note)


def corrected(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of a paper, those of headlines after Holm's correction for all of them.

    S. Holm, A simple sequentially rejective multiple test procedure, Scandinavian Journal of
    Statistics 6, 1979: of m results the i-th most certain has the level 5 % / (m - i + 1).
    """
    tests = [
        (row.among, i, j)
        for i, o in enumerate(outcomes) if o.claim.headline and not o.place
        for j, row in enumerate(o.rows) if row.among is not None
    ]  # fmt: skip
    tests.sort(reverse=True)
    fails = (k for k, (among, *_) in enumerate(tests) if among < min(len(tests) - k, MOST))
    lost = {(i, j) for _, i, j in tests[next(fails, len(tests)) :]}
    made = []
    for i, o in enumerate(outcomes):
        rows = [_uncertain(row, len(tests)) if (i, j) in lost else row
                for j, row in enumerate(o.rows)]  # fmt: skip
        changed = rows != list(o.rows)
        answer = combined(row.answer for row in rows) if changed else o.answer
        made.append(replace(o, rows=tuple(rows), answer=answer))
    return made


def _uncertain(row: Verdict, tests: int) -> Verdict:
    if named(row.answer) in (CANNOT_TELL, DEPENDS):
        return row
    why = f"{row.answer} without Holm's correction for {tests} headline results"
    return replace(row, answer=CANNOT_TELL, note="; ".join(filter(None, [why, row.note])))


def over_settings(outcomes: Mapping[str, Outcome]) -> Outcome:
    """The first of a claim's outcomes by setting, with the other answers of others."""
    tried = {n: o for n, o in outcomes.items() if o.answer not in (NOT_TRIED, NOT_RUN)}
    first = next(iter(tried or outcomes))
    others = {n: o.answer for n, o in tried.items() if o.answer != outcomes[first].answer}
    return replace(outcomes[first], by_setting=others) if others else outcomes[first]
