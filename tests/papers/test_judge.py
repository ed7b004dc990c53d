"""The rules of the verdicts, on values whose answer is known; intervals against the formula."""

from __future__ import annotations

import numpy as np
import pytest

from letorbench.analysis.intervals import bootstrap_folds, bootstrap_ratio
from letorbench.papers import judge
from letorbench.papers.claims import NOT_REPRODUCED, NOT_SIGNIFICANT, REPRODUCED, Claim, Measured
from letorbench.papers.records import closing, lines, notes, write_claims
from letorbench.results.per_query import mean_of_folds


def claim(kind="value", value=None, sense="equal", name="c"):
    check = judge.number(name)
    return Claim("paper", name, "figure-1", "text", "DATA", kind, "how", value, sense, check=check)


FOLDS = np.repeat([1, 2], [40, 20])


def test_mean_is_of_the_folds_means():
    values = np.concatenate([np.zeros(40), np.ones(20)])
    assert mean_of_folds(values, FOLDS) == 0.5


def test_interval_agrees_with_the_normal_one(rng):
    values = rng.normal(size=60)
    (found,) = bootstrap_folds(values[:, None], FOLDS)
    ours, low, high = found.mean, found.low, found.high
    spread = np.sqrt(sum(values[FOLDS == f].var() / (FOLDS == f).sum() for f in (1, 2))) / 2
    assert low < ours < high
    assert (high - low) == pytest.approx(2 * 1.96 * spread, rel=0.08)


def test_relative_interval_contains_a_ratio_that_every_query_has():
    lower = np.linspace(0.1, 1.0, 60)
    found = bootstrap_ratio(1.3 * lower, lower, FOLDS)
    assert (found.mean, found.low, found.high) == pytest.approx((0.3, 0.3, 0.3))


@pytest.mark.parametrize(
    ("theirs", "sense", "verdict"),
    [
        (0.505, "equal", REPRODUCED),
        (0.53, "equal", NOT_SIGNIFICANT),
        (0.60, "equal", NOT_REPRODUCED),
        (0.40, "at least", REPRODUCED),
        (0.51, "at least", NOT_SIGNIFICANT),
        (0.60, "at least", NOT_REPRODUCED),
        (0.60, "at most", REPRODUCED),
        (0.40, "at most", NOT_REPRODUCED),
    ],
)
def test_measured(theirs, sense, verdict):
    ours = Measured(0.50, 0.45, 0.55)
    assert judge.measured(claim("value", theirs, sense), ours).verdict == verdict


def test_a_rounder_paper_value_is_judged_no_more_mildly():
    ours = Measured(0.457, 0.455, 0.459)
    assert judge.measured(claim("value", 0.5), ours).verdict == NOT_REPRODUCED


def test_ordering_and_difference(rng):
    lower = rng.uniform(0.3, 0.5, 60)
    upper = lower * 1.1 + rng.normal(0.0, 0.002, 60)
    noise = lower + np.tile([0.2, -0.2], 30)
    order = claim("ordering")
    assert judge.ordering(order, upper, lower, FOLDS).verdict == REPRODUCED
    assert judge.ordering(order, lower, upper, FOLDS).verdict == NOT_REPRODUCED
    assert judge.ordering(order, noise, lower, FOLDS).verdict == NOT_SIGNIFICANT
    share = claim("difference", 0.10)
    assert judge.difference(share, upper, lower, FOLDS).verdict == REPRODUCED
    assert judge.difference(claim("difference", 0.3), upper, lower, FOLDS).verdict == NOT_REPRODUCED
    assert judge.difference(share, noise, lower, FOLDS).verdict == NOT_SIGNIFICANT


def test_claims_of_other_parts_are_kept(tmp_path):
    claims = [claim(value=1.0, name="a"), claim(value=1.0, name="b")]
    path = tmp_path / "claims.csv"
    first = judge.measured(claims[1], Measured(1.0, 0.9, 1.1))
    write_claims(path, [first], claims)
    write_claims(path, [judge.no_data(claims[0], "ask, politely")], claims)
    rows = path.read_text().splitlines()
    assert [row.split(",")[1] for row in rows[1:]] == ["a", "b"]
    assert "reproduced" in rows[2] and '"ask, politely"' in rows[1]


def test_printed_lines_say_what_was_found():
    verdicts = [judge.no_data(claim(value=0.5, name=n), "buy it") for n in "ab"]
    verdicts.append(judge.measured(claim("difference", 0.04, name="c"), Measured(0.05, 0.01, 0.09)))
    assert "+4.0 %" in lines(verdicts)[3] and "[+1.0 %, +9.0 %]" in lines(verdicts)[3]
    assert notes(verdicts) == ["a, b: buy it"]
    last = closing([("paper", verdicts, "there")])[1]
    assert last.split() == ["paper", "3", "0", "0", "1", "2", "there"]
