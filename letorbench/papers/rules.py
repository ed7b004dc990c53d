"""The rules that judge the claims of every paper; docs/papers/rules.md has the reasons.

Each part of a claim has one estimand: a mean relative lead, a balance of gains and losses, or a
number. Queries, seeds and draws of data are resampled, for all its comparisons together. The answer
follows from the 95 % interval and the paper's sign or number.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from letorbench.papers.paper import Claim, Point, Test
from letorbench.papers.runs import ByMethod, Estimate, are_draws, seeds_mean
from letorbench.results.per_query import PerQuery

#: the number of resamples
DRAWS = 2_000
#: (part, data set) -> the part's number on each re-split of that set, (n_draws,)
Between = Mapping[tuple[str, str], np.ndarray]

#: how much two implementations of a method may differ, as a fraction of the number: one program
#: with sums in another order gave RankNet .4566 and .4522 of NDCG@10 on OHSUMED
BAND = 0.01
#: the most headline results of a paper for which an answer is corrected
MOST = 30
#: the lead that data should be able to decide if the paper prints none
EFFECT = 0.03

AGREES, NO_DIFFERENCE, OPPOSITE = "agrees", "no difference", "opposite"
SMALLER, LARGER = "same direction, smaller", "same direction, larger"
CANNOT_TELL, IN_PART = "cannot tell", "in part"
NOT_TRIED, NOT_RUN = "not tried", "not run"
NOT_HELD, DEPENDS = "does not hold", "depends on"
CHECKED, SLIP = "checked", "slip"


def named(answer: str) -> str:
    """The answer without the choice that it depends on."""
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
        if not test.compares:
            given = _numbers(test, values, numbers)
            verdicts += [_number_verdict(test, claim.nature, *each) for each in given]
            sets += [()] * len(given)
            absent |= dict.fromkeys(() if given else test.data or (test.number,))
            continue
        every = list(test.points())
        here = [p for p in every if {p.upper, p.lower} <= values.get(p.dataset, {}).keys()]
        absent |= dict.fromkeys(p.dataset for p in every if p not in here)
        if here:
            verdict, comparisons = compared(test, here, values, draws, between)
            verdicts.append(verdict)
            points += comparisons
            by_dataset = {d: [p for p in here if p.dataset == d] for d in (p.dataset for p in here)}
            each_set = (
                replace(compared(test, of_set, values, draws, between)[0], place=d)
                for d, of_set in by_dataset.items()
            )
            sets.append(tuple(each_set) if len(by_dataset) > 1 else ())
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
    parts = Counter(p.dataset for p in here)
    first = [values[p.dataset][p.upper] for p in {p.dataset: p for p in here}.values()]
    units = [len(each.folds) for each in first]
    names = ["draws" if are_draws(each) else "queries" for each in first]
    samples = {d: between[test.part, d] for d in parts if (test.part, d) in between}
    # the number is a mean over comparisons, which the data sets share
    split = sum((parts[d] / len(here)) ** 2 * each.var(ddof=1) for d, each in samples.items())
    n_samples = min(map(len, samples.values()), default=0)
    leads, n = leads_of(here, values, draws), min(units)
    each = [
        (p.dataset, f"{p.upper} over {p.lower}, {p.measure}", *interval(lead, n), p.lead)
        for p, lead in zip(here, leads)
    ]
    estimates = estimands(test, here, leads)
    what, count = _counted(test, here, leads[:, 0])
    printed, theirs = None, [p.lead for p in here if p.lead is not None]
    if test.kind not in ("best", "one-sided") and len(theirs) == len(here):
        printed = float(np.mean(theirs))
    alike = test.kind in ("alike", "not below")
    # the largest difference among the methods that the paper calls comparable
    least = max([BAND, *(abs(p.lead) for p in test.points() if p.lead is not None)])

    def at(level: float) -> tuple[str, float, float, float]:
        ends = zip(*(interval(f, n, len(estimates), level, (split, n_samples)) for f in estimates))
        value, low, high = (min(each) for each in ends)
        answer = (
            equivalence(test.kind, low, high, least) if alike else answer_of(low, high, printed)
        )
        return answer, value, low, high

    answer, value, low, high = at(0.05)
    among = next((m for m in range(MOST) if at(0.05 / (m + 1))[0] == CANNOT_TELL), MOST)
    note = f"within {least:.1%}" if alike else ""
    if answer == CANNOT_TELL:
        none = "nothing to compare with" if np.isnan(high) else f"at most {high:+.1%}"
        effect = EFFECT if printed is None else abs(printed)
        room = least if alike else max(effect - BAND, 0.0)
        few = _needed(test.kind, (high - low) / 2.0, room, sum(units), names[0])
        note = "; ".join(filter(None, (note or none, few)))
    covered = ", ".join(parts)
    if len(parts) < len(test.data):
        covered += f", {len(parts)} of {len(test.data)} sets"
    random = " + ".join(f"{k} {name}" for k, name in zip(units, names))
    random += f", {n_samples} re-splits" * bool(n_samples)
    verdict = Verdict(
        test.part, test.kind, covered, what, answer, value, low, high, printed,
        count if len(here) > 1 else "", random, note, among,
    )  # fmt: skip
    return verdict, each


def _counted(test: Test, here: Sequence[Point], leads: np.ndarray) -> tuple[str, str]:
    """What is estimated, and how many of the comparisons, by their leads, say which."""
    above = f"{int((leads > 0.0).sum())} of {len(here)} leads above 0"
    if test.kind == "best":
        return "lead over the best of the others", f"{_places(here, leads)}; {above}"
    if test.kind == "one-sided":
        up, down = (leads > test.beyond).sum(), (leads < -test.beyond).sum()
        beyond = f"gain and {down} lose more than {100.0 * test.beyond:g} %"
        return "gains minus losses", f"{up} of {len(here)} comparisons {beyond}; {above}"
    return "mean lead", above


def _needed(kind: str, half: float, room: float, units: int, name: str) -> str:
    """How many units would show the paper's effect in half of the cases; "" if these would.

    An interval shrinks as n^-1/2; its half must be as small as the room between the effect and the
    band. One on both sides of 0 needs more.
    """
    ratio = half / room * (1.34 if kind == "alike" else 1.0) if room else 0.0
    if kind == "one-sided" or not 1.0 < ratio < np.inf:
        return ""
    many = float(f"{units * ratio**2:.2g}")
    return f"these data cannot decide it: about {many:,.0f} {name} are needed"


def _places(here: Sequence[Point], leads: np.ndarray) -> str:
    """The places of the upper method over data sets and measures, and how often it is the first."""
    behind: dict[tuple[str, str], int] = {}
    for p, lead in zip(here, leads):
        behind[p.dataset, p.measure] = behind.get((p.dataset, p.measure), 1) + bool(lead <= 0.0)
    n_methods = len({p.lower for p in here}) + 1
    ranks = sorted(behind.values())
    span = f"{ranks[0]}" if ranks[0] == ranks[-1] else f"{ranks[0]} to {ranks[-1]}"
    return f"rank {span} of {n_methods}, best at {ranks.count(1)} of {len(ranks)}"


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
    """Judge a number: half a unit of the last digit, our interval and for findings the band.

    A worked example that is right only truncated, or in a unit that suits it, has that slip.
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


def corrected(outcomes: Sequence[Outcome]) -> list[Outcome]:
    """The outcomes of a paper, those of headlines after Holm's correction for all of them.

    Of m results the i-th most certain has the level 5 % / (m - i + 1).
    """
    tests = [
        (row.among, i, j)
        for i, o in enumerate(outcomes) if o.claim.headline and not o.place
        for j, row in enumerate(o.rows) if row.among is not None
    ]  # fmt: skip
    tests.sort(reverse=True)
    fails = (k for k, (among, *_) in enumerate(tests) if among < min(len(tests) - k, MOST))
    lost = {(i, j) for _, i, j in tests[next(fails, len(tests)) :]}
    results = []
    for i, o in enumerate(outcomes):
        rows = list(o.rows)
        for j, row in enumerate(rows):
            if (i, j) in lost and named(row.answer) not in (CANNOT_TELL, DEPENDS):
                why = f"{row.answer} without Holm's correction for {len(tests)} headline results"
                note = "; ".join(filter(None, [why, row.note]))
                rows[j] = replace(row, answer=CANNOT_TELL, note=note)
        changed = rows != list(o.rows)
        answer = combined(row.answer for row in rows) if changed else o.answer
        results.append(replace(o, rows=tuple(rows), answer=answer))
    return results


def over_settings(outcomes: Mapping[str, Outcome]) -> Outcome:
    """The first of a claim's outcomes by setting, with the other answers of others."""
    tried = {n: o for n, o in outcomes.items() if o.answer not in (NOT_TRIED, NOT_RUN)}
    first = next(iter(tried or outcomes))
    others = {n: o.answer for n, o in tried.items() if o.answer != outcomes[first].answer}
    return replace(outcomes[first], by_setting=others) if others else outcomes[first]


def resampled(
    methods: Mapping[str, PerQuery], measures: Sequence[str], draws: int = DRAWS, seed: int = 0
) -> dict[tuple[str, str], np.ndarray]:
    """(method, measure) -> (1 + draws,) means of a data set's methods, the observed ones first.

    Queries are resampled, the same for every method, and seeds; of generated data whole draws.
    """
    rng = np.random.default_rng(seed)
    folds = next(iter(methods.values())).folds
    numbers = np.unique(folds)
    again = {k: _weights(rng, int((folds == k).sum()), draws) for k in numbers}
    whole = _weights(rng, len(numbers), draws)
    means = {}
    for name, values in methods.items():
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
            means[name, m] = mean
    return means


def _weights(rng: np.random.Generator, n: int, draws: int) -> np.ndarray:
    """(1 + draws, n) weights with the sum 1: equal ones first, then resamples of n units."""
    drawn = rng.multinomial(n, np.full(n, 1.0 / n), size=draws)
    return np.vstack([np.ones(n), drawn]) / n


def interval(
    estimates: np.ndarray, n: int, tried: int = 1, level: float = 0.05,
    between: tuple[float, int] = (0.0, 0),
) -> tuple[float, float, float]:  # fmt: skip
    """The observed number and the interval of (1 + draws,) numbers, resampled from n units.

    The upper end holds for all of `tried` such numbers (Bonferroni). `between` is the variance over
    training samples and the number of re-splits of the same queries that it is from: Student's t of
    this scale adds to the resamples. Their percentiles are widened as those of Student's t for few
    units: T. Hesterberg, What Teachers Should Know About the Bootstrap, The American Statistician
    69, 2015, section 3.3.
    """
    from scipy.special import ndtr, stdtrit

    if n < 2:
        return float(estimates[0]), float("-inf"), float("inf")
    drawn, (variance, samples) = estimates[1:], between
    if variance > 0.0:
        spread = stdtrit(samples - 1, (np.arange(len(drawn)) + 0.5) / len(drawn))
        drawn = drawn + np.sqrt(variance) * np.random.default_rng(0).permutation(spread)
    t = stdtrit(n - 1, (level / 2.0, 1.0 - level / 2.0 / tried))
    low, high = np.quantile(drawn, ndtr(np.sqrt(n / (n - 1.0)) * t))
    return float(estimates[0]), float(low), float(high)


def leads_of(here: Sequence[Point], values: ByMethod, draws: int) -> np.ndarray:
    """(n_points, 1 + draws) leads, as fractions of the observed lower means."""
    measures = list(dict.fromkeys(p.measure for p in here))
    means = dict[tuple[str, str, str], np.ndarray]()
    for place in dict.fromkeys(p.dataset for p in here):
        used = dict.fromkeys(m for p in here if p.dataset == place for m in (p.upper, p.lower))
        methods = {name: values[place][name] for name in used}
        means |= {(place, *key): each for key, each in resampled(methods, measures, draws).items()}
    upper = np.array([means[p.dataset, p.upper, p.measure] for p in here])
    lower = np.array([means[p.dataset, p.lower, p.measure] for p in here])
    base = lower[:, :1]
    return (upper - lower) / np.where(base > 0.0, base, np.nan)


def estimands(test: Test, here: Sequence[Point], leads: np.ndarray) -> list[np.ndarray]:
    """The numbers of a test, the least of which it is judged by, for each column of the leads."""
    if test.kind == "best":
        others = dict.fromkeys(p.lower for p in here)
        return [leads[[q.lower == other for q in here]].mean(axis=0) for other in others]
    if test.kind == "one-sided":
        return [(leads > test.beyond).mean(axis=0) - (leads < -test.beyond).mean(axis=0)]
    return [leads.mean(axis=0)]


def on_draws(claim: Claim, redrawn: Sequence[ByMethod]) -> Between:
    """Each part's number on each re-split of each of the data sets that have some."""
    numbers_of = {}
    for test in (each for each in claim.tests if each.compares):
        for dataset in test.data:
            here = [p for p in test.points() if p.dataset == dataset]
            methods = {m for p in here for m in (p.upper, p.lower)}
            whole = [draw for draw in redrawn if methods <= draw.get(dataset, {}).keys()]
            numbers = [min(estimands(test, here, leads_of(here, d, 0)))[0] for d in whole]
            if len(numbers) > 1:
                numbers_of[test.part, dataset] = np.array(numbers)
    return numbers_of
