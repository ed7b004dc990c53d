"""The rules of the verdicts, on values whose answer is known; intervals against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.papers import checks, judge
from letorbench.papers.claims import (
    NOT_REPRODUCED,
    REPRODUCED,
    UNDECIDED,
    Claim,
    Measured,
)
from letorbench.results.per_query import mean_of_folds


def claim(kind="value", value=None, sense="equal", name="c", half=0.005, nature="finding"):
    check = checks.number(name)
    return Claim(
        "paper", name, "figure-1", "text", "DATA", kind, "how", value, half, sense, nature,
        check=check,
    )  # fmt: skip


FOLDS = np.repeat([1, 2], [40, 20])


@pytest.mark.parametrize(
    ("theirs", "sense", "verdict"),
    [
        (0.505, "equal", REPRODUCED),
        (0.53, "equal", REPRODUCED),
        (0.60, "equal", NOT_REPRODUCED),
        (0.40, "at least", REPRODUCED),
        (0.51, "at least", UNDECIDED),
        (0.60, "at least", NOT_REPRODUCED),
        (0.60, "at most", REPRODUCED),
        (0.40, "at most", NOT_REPRODUCED),
    ],
)
def test_measured(theirs, sense, verdict):
    ours = Measured(0.50, 0.45, 0.55)
    found = judge.measured(claim("value", theirs, sense), ours)
    assert found.verdict == verdict
    assert found.by == ("-" if verdict == UNDECIDED else "number")


def test_a_number_is_met_within_half_a_unit_and_what_implementations_differ_by():
    def verdict(ours, half, nature):
        return judge.measured(
            claim("value", 0.46, half=half, nature=nature), Measured(ours, ours, ours)
        ).answers.number

    assert verdict(0.4649, 0.005, "worked example") == "yes"
    assert verdict(0.4674, 0.005, "worked example") == "no"
    assert verdict(0.4674, 0.005, "finding") == "yes"
    assert verdict(0.4700, 0.005, "finding") == "no"


def pair(upper, lower, candidates=1):
    return judge.Pair(upper, lower, FOLDS, candidates)


def test_superiority_and_difference(rng):
    lower = rng.uniform(0.3, 0.5, 60)
    upper = lower * 1.1 + rng.normal(0.0, 0.002, 60)
    noise = lower + np.tile([0.2, -0.2], 30)
    same = lower + np.tile([0.001, -0.001], 30)
    order = claim("superiority")
    assert judge.superiority(order, pair(upper, lower)).verdict == REPRODUCED
    assert judge.superiority(order, pair(lower, upper)).verdict == NOT_REPRODUCED
    unclear = judge.superiority(order, pair(noise, lower))
    assert (unclear.verdict, unclear.answers.power, unclear.by) == (UNDECIDED, "no", "-")
    # enough queries that a lead of 3 % can be excluded: the claim fails without significance
    alike = judge.superiority(order, pair(same, lower))
    assert (alike.verdict, alike.by) == (NOT_REPRODUCED, "margin")
    assert (alike.answers.power, alike.answers.significance) == ("yes", "no")
    share = claim("difference", 0.10)
    assert judge.difference(share, pair(upper, lower)).verdict == REPRODUCED
    missed = judge.difference(claim("difference", 0.3), pair(upper, lower))
    assert (missed.verdict, missed.answers.number, missed.answers.direction) == (
        NOT_REPRODUCED, "no", "yes",
    )  # fmt: skip


@pytest.mark.parametrize(("share", "met"), [(0.0649, "yes"), (0.0651, "no"), (0.0151, "yes"),
                                            (0.0149, "no")])  # fmt: skip
def test_a_share_is_met_within_half_a_unit_and_twice_what_implementations_differ_by(share, met):
    """Half a unit is .005, and each of the two methods may differ by .01."""
    lower = np.linspace(0.4, 0.6, 60)
    found = judge.difference(claim("difference", 0.04), pair((1.0 + share) * lower, lower))
    assert found.answers.number == met


@pytest.mark.parametrize(("shift", "significant"), [(0.234, "no"), (0.275, "yes")])
def test_the_level_of_significance_is_five_percent(shift, significant):
    lower = np.full(60, 0.5)
    both = pair(lower + 0.1 * (shift + np.resize([1.0, -1.0], 60)), lower)
    rules = {"superiority": judge.superiority, "indistinct": judge.indistinct}
    for kind, rule in rules.items():
        found = rule(claim(kind), both)
        assert found.answers.significance == significant
        assert (0.05 < found.p < 0.1) == (significant == "no")
    assert judge.difference(claim("difference", 0.04), both).answers.significance == significant


@pytest.mark.parametrize(("gap", "kept"), [(0.02, "yes"), (0.04, "no")])
def test_the_margin_is_three_percent_of_the_other_method(gap, kept, rng):
    lower = np.full(60, 0.5)
    spread = np.resize([1e-4, -1e-4], 60)
    below = pair((1.0 - gap) * lower + spread, lower)
    found = judge.noninferiority(claim("non-inferiority"), below)
    assert found.answers.significance == kept
    assert found.verdict == (REPRODUCED if kept == "yes" else NOT_REPRODUCED)
    for each in (below, pair((1.0 + gap) * lower + spread, lower)):
        assert judge.equivalence(claim("equivalence"), each).answers.significance == kept


def test_noise_decides_nothing_and_a_lead_is_not_by_chance(rng):
    lower = rng.uniform(0.3, 0.5, 60)
    noise = pair(lower + np.tile([0.2, -0.2], 30), lower)
    for rule in (judge.noninferiority, judge.equivalence):
        found = rule(claim("equivalence"), noise)
        assert (found.verdict, found.answers.power) == (UNDECIDED, "no")
    far = pair(1.1 * lower + rng.normal(0.0, 0.001, 60), lower)
    assert judge.noninferiority(claim("non-inferiority"), far).verdict == REPRODUCED
    assert judge.equivalence(claim("equivalence"), far).verdict == NOT_REPRODUCED
    assert judge.indistinct(claim("indistinct"), far).verdict == NOT_REPRODUCED
    slightly = pair(noise.upper + 0.001, lower)
    assert judge.indistinct(claim("indistinct"), slightly).verdict == REPRODUCED


def test_sets_are_combined(rng):
    base = [rng.uniform(0.3, 0.5, 60) for _ in range(7)]
    ups = [pair(each + 0.01 + rng.normal(0.0, 0.04, 60), each) for each in base]
    alone = [judge.superiority(claim("superiority"), each).verdict for each in ups]
    found = judge.across(claim("superiority"), ups)
    assert UNDECIDED in alone and found.verdict == REPRODUCED
    downs = [pair(each.lower, each.upper) for each in ups]
    assert judge.across(claim("superiority"), downs).verdict == NOT_REPRODUCED
    above = sum(mean_of_folds(each.upper - each.lower, FOLDS) > 0.0 for each in ups)
    assert f"above on {above} of 7 sets, sign test p" in found.note
    # the sign test of five sets comes to 2 / 2^5 = .0625 at the least, that of six to .03125
    for count, power in ((2, "no"), (5, "no"), (6, "yes")):
        assert judge.across(claim("superiority"), ups[:count]).answers.power == power
