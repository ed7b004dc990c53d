"""The checks that claims hold: what a check needs, and the rule that it judges by."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Literal

from letorbench.papers import judge
from letorbench.papers.claims import WITH_NUMBER, Claim, Found, Measured, Verdict
from letorbench.papers.runs import Study, Values

#: what the names of a check stand for: per-query values of methods on one data set, measured
#: numbers, or the values of methods on several data sets
Source = Literal["values", "numbers", "sets"]
#: judges a claim by a pair of methods; the functions of `judge`
PairRule = Callable[..., Verdict]
#: data sets that a claim over data sets needs at least
FEWEST_SETS = 2


@dataclass(frozen=True)
class Check:
    """Judges a claim where a run found what it needs; no data where it did not.

    Parameters
    ----------
    needs : tuple of str
        The names of methods or numbers.
    rule : callable
        Takes the claim and what was found, returns the verdict.
    source : {"values", "numbers", "sets"}
        What the names stand for.
    """

    needs: tuple[str, ...]
    rule: Callable[[Claim, Found], Verdict]
    source: Source = "values"

    def __call__(self, claim: Claim, found: Found) -> Verdict:
        if self.source == "sets":
            whole = {name: each for name, each in found.items() if set(self.needs) <= set(each)}
            if len(whole) < FEWEST_SETS:
                had = f"{len(whole)} of the data sets at hand has" if whole else "none has"
                return judge.no_data(claim, f"{had} results, {FEWEST_SETS} or more are needed")
            return self.rule(claim, whole)
        absent = [name for name in self.needs if name not in found]
        if absent:
            return judge.no_data(claim, f"no result of {', '.join(absent)}")
        return self.rule(claim, found)


def value_of(method: str, measure: str) -> Check:
    """The check of a method's mean of a measure against the claim's value."""

    def rule(claim: Claim, found: Found) -> Verdict:
        mean = found[method].mean(measure)
        return judge.measured(claim, Measured(mean, mean, mean))

    return Check((method,), rule)


def by_pair(judged: PairRule, upper: str, lower: str, measure: str | None = None) -> Check:
    """The check of two methods by a rule of `judge`, by a measure or by the mean of all."""

    def rule(claim: Claim, found: Found) -> Verdict:
        return judged(claim, judge.pair(found[upper], found[lower], measure))

    return Check((upper, lower), rule)


def above(upper: str, lower: str, measure: str | None = None) -> Check:
    """The check that a method is above another."""
    return by_pair(judge.superiority, upper, lower, measure)


def above_by(upper: str, lower: str, measure: str) -> Check:
    """The check that a method exceeds another by the claim's share."""
    return by_pair(judge.difference, upper, lower, measure)


def not_below(upper: str, lower: str, measure: str | None = None) -> Check:
    """The check that a method is above another, or comparable to it."""
    return by_pair(judge.noninferiority, upper, lower, measure)


def alike(one: str, other: str, measure: str | None = None) -> Check:
    """The check that two methods are comparable."""
    return by_pair(judge.equivalence, one, other, measure)


def above_print(method: str, measure: str, printed: float) -> Check:
    """The check of the share by which a method's mean exceeds a printed number."""

    def rule(claim: Claim, found: Found) -> Verdict:
        share = found[method].mean(measure) / printed - 1.0
        return judge.measured(claim, Measured(share, share, share, f"print: {printed:g}"))

    return Check((method,), rule)


def above_on_sets(upper: str, lower: str, measure: str | None = None) -> Check:
    """The check that a method is above another over all data sets."""

    def rule(claim: Claim, found: Mapping[str, Mapping[str, Values]]) -> Verdict:
        pairs = [judge.pair(each[upper], each[lower], measure) for each in found.values()]
        return judge.across(claim, pairs, f": {', '.join(found)}")

    return Check((upper, lower), rule, "sets")


def number(name: str) -> Check:
    """The check of a number that the part's run measured under that name."""
    return Check((name,), lambda claim, found: judge.measured(claim, found[name]), "numbers")


def on_datasets(
    claims: Iterable[Claim], found: Mapping[str, Found], study: Study
) -> tuple[Verdict, ...]:
    """The verdict on each claim by what was found on its data set; no data where it is absent."""

    def verdict(claim: Claim) -> Verdict:
        if claim.check.source == "sets":
            return claim.judge({name: found[name] for name in found if name != "DEMO"})
        if study.has(claim.dataset):
            return claim.judge(found.get(claim.dataset, {}))
        return judge.no_data(claim, study.missing(claim.dataset))

    return tuple(verdict(claim) for claim in claims)


def elsewhere(claims: Iterable[Claim], found: Mapping[str, Found]) -> tuple[Verdict, ...]:
    """The verdicts on claims by other data sets than theirs, each with its place.

    Only claims about values of methods on one data set, and of no particular number, can be
    tried on other data. Claims that differ in the data set alone are the same there.
    """
    able = [c for c in claims if c.check.source == "values" and c.kind not in WITH_NUMBER]
    once = {(claim.text, claim.how): claim for claim in reversed(able)}
    return tuple(
        verdict.at(place)
        for claim in reversed(once.values())
        for place, values in found.items()
        if place != claim.dataset and set(claim.check.needs) <= set(values)
        for verdict in [claim.judge(values)]
    )
