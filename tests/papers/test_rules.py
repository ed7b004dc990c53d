"""The rules: intervals with right coverage, an answer for each case, parts, counts and numbers."""

import re
from itertools import product

import numpy as np
import pytest
from scipy.stats import norm
from test_pages import per_query

from letorbench.papers import rules
from letorbench.papers.paper import Claim, Test
from letorbench.papers.runs import Estimate, exactly
from letorbench.papers.specifications import over_specifications

AGREES, SMALLER, LARGER = "agrees", "same direction, smaller", "same direction, larger"
CANNOT_TELL, IN_PART, NOT_HELD, NOT_TRIED = "cannot tell", "in part", "does not hold", "not tried"
CHECKED, NO_DIFFERENCE, OPPOSITE, SLIP = "checked", "no difference", "opposite", "slip"
FOLDS = np.repeat([1, 2, 3], 20)
M, INFINITE = ("a", "b"), float("inf")


def values(rng, mean, spread=0.02, folds=FOLDS, seeds=1):
    return per_query(M, mean + spread * rng.normal(size=(seeds, len(folds), len(M))), folds)


def claim(*tests, nature="finding"):
    return Claim("p", "c", "part", "q", "section 1", tests, "says", nature)


def above(**facts):
    facts = {"data": ("D",), "measures": ("a",), "upper": ("u",), "lower": ("w",)} | facts
    return Test(**{"kind": "above"} | facts)


def row_of(test, own, draws=rules.DRAWS, **more):
    """The first verdict on a claim of one test, by these values on the data set D."""
    return rules.judge(claim(test), {"D": own}, {}, draws, **more).rows[0]


@pytest.mark.parametrize(
    ("low", "high", "printed", "answer"),
    [
        (0.011, 0.05, None, AGREES), (0.011, 0.05, 0.03, AGREES), (0.011, 0.05, 0.06, SMALLER),
        (0.02, 0.05, 0.015, LARGER), (0.009, 0.05, 0.03, CANNOT_TELL),
        (-0.05, -0.009, 0.03, CANNOT_TELL), (-0.05, -0.011, 0.03, OPPOSITE),
        (-0.009, 0.009, 0.03, NO_DIFFERENCE), (0.001, 0.009, 0.005, NO_DIFFERENCE),
        (float("nan"), float("nan"), 0.1, CANNOT_TELL), (-INFINITE, INFINITE, 0.1, CANNOT_TELL),
        (-0.02, 0.02, "alike", AGREES), (0.04, 0.05, "alike", NOT_HELD),
        (-0.05, -0.04, "alike", NOT_HELD), (-0.05, 0.02, "alike", CANNOT_TELL),
        (-0.02, 0.5, "not below", AGREES), (-0.05, -0.04, "not below", NOT_HELD),
        (-0.05, 0.5, "not below", CANNOT_TELL),
    ],
)  # fmt: skip
def test_the_answer_of_an_interval(low, high, printed, answer):
    """Of a lead, beside the printed one, or of what is called comparable or not worse, by 3 %."""
    if isinstance(printed, str):
        assert rules.equivalence(printed, low, high, 0.03) == answer
    else:
        assert rules.answer_of(low, high, printed) == answer


def test_an_interval_is_that_of_the_mean_which_comes_first(rng):
    """Of 400 queries as the normal one; of five draws as Student's, which is wider."""
    folds = np.repeat([1, 2], [5, 15])
    own = {"u": values(rng, 0.5, folds=folds, seeds=3), "w": values(rng, 0.4, folds=folds)}
    for (name, measure), each in rules.resampled(own, M, 50).items():
        assert len(each) == 51 and each[0] == pytest.approx(own[name].mean(measure))
    many = {"u": values(rng, 0.5, folds=np.ones(400))}
    found = rules.resampled(many, ["a"], 20_000)["u", "a"]
    error = many["u"].values["a"].std() / 20.0
    value, low, high = rules.interval(found, 400)
    assert (low, high) == pytest.approx(value + norm.ppf((0.025, 0.975)) * error, abs=0.06 * error)
    few = rules.interval(found, 5)
    assert 2.776 < (few[2] - few[1]) / 2.0 / error < 3.4  # t of 4 degrees, times sqrt(5 / 4)
    assert rules.interval(found, 1)[1:] == (-INFINITE, INFINITE)


def test_seeds_widen_and_shared_queries_narrow_an_interval_and_draws_are_units(rng):
    """A lead on the same queries does not vary where both methods vary together."""
    hard = rng.normal(0.5, 0.1, (1, 60, 1)) * np.ones((3, 60, 2))
    other = per_query(M, hard, FOLDS)
    found = row_of(above(), {"u": per_query(M, 1.1 * hard, FOLDS), "w": other})
    assert 0.09 < found.low < 0.1 < found.high < 0.11  # the base is the observed one
    jumps = per_query(M, 1.1 * hard + 0.05 * rng.normal(size=(3, 1, 1)), FOLDS)
    found = row_of(above(), {"u": jumps, "w": other})
    assert found.high - found.low > 0.02 and found.units == "60 queries"
    folds, jump = np.arange(4), 0.03 * rng.normal(size=4)[None, :, None]
    upper = per_query(M, 0.6 + jump + np.zeros((1, 4, 2)), folds)
    row = row_of(above(), {"u": upper, "w": values(rng, 0.5, 0.0, folds)})
    leads = (0.6 + jump.ravel()) / 0.5 - 1.0
    assert row.units == "4 draws" and row.high - row.low > 0.5 * np.ptp(leads)
    assert leads.min() <= row.low + 1e-9 and row.high <= leads.max() + 1e-9


def test_a_sentence_is_judged_by_its_mean_lead_and_counted(rng):
    own = {"u": values(rng, 0.55), "w": values(rng, 0.5), "x": values(rng, 0.57)}
    test = above(lower=("w", "x"), measures=M, data=("D", "gone"))
    outcome = rules.judge(claim(test), {"D": own}, {})
    (row,) = outcome.rows
    leads = [own["u"].mean(m) / own[n].mean(m) - 1.0 for n, m in product("wx", M)]
    assert row.value == pytest.approx(np.mean(leads)) and row.place == "D, 1 of 2 sets"
    assert row.count == "2 of 4 leads above 0" and outcome.note == "without gone"
    assert [point[2] for point in outcome.points] == pytest.approx(leads)
    assert rules.judge(claim(test), {}, {}).answer == NOT_TRIED
    parts = rules.judge(
        claim(above(part="over w"), above(part="over x", lower=("x",))), {"D": own}, {}
    )
    assert [row.answer for row in parts.rows] == [AGREES, OPPOSITE] and parts.answer == IN_PART
    assert rules.combined([AGREES, AGREES]) == AGREES and rules.combined([CHECKED, SLIP]) == SLIP
    # the best is ahead of each other one, not of their mean
    best = {lower: row_of(above(kind="best", lower=lower, measures=M), own) for lower in
            (("w", "x"), ("w",), ("x",))}  # fmt: skip
    row = best["w", "x"]
    assert row.value == pytest.approx(np.mean(leads[2:])) and row.answer == OPPOSITE
    assert row.count == "rank 2 of 3, best at 0 of 2; 2 of 4 leads above 0"
    # which of two is the best is not known before
    assert best[("w",)].answer == AGREES and best[("x",)].high < row.high


def test_gains_and_losses_are_balanced(rng):
    own = {"u": values(rng, 0.5, 0.0), "w": values(rng, 0.4, 0.0), "x": values(rng, 0.502, 0.0)}
    row = row_of(above(kind="one-sided", lower=("w", "x"), beyond=0.03, measures=M), own)
    assert (row.value, row.answer) == (0.5, AGREES)
    assert row.count == "2 of 4 comparisons gain and 0 lose more than 3 %; 2 of 4 leads above 0"


THEORY = {"nature": "theory", "kind": "at most", "printed": 1e-9, "half": 0.0}


@pytest.mark.parametrize(
    ("ours", "facts", "answer"),
    [
        (0.5099, {}, AGREES), (0.511, {}, LARGER), (0.489, {}, SMALLER),
        ((0.52, 0.505, 0.535), {}, AGREES), (0.489, {"nature": "worked example"}, SLIP),
        (0.5099, {"nature": "worked example"}, SLIP), (0.504, {"nature": "worked example"}, AGREES),
        (0.4, {"kind": "at most"}, AGREES), (0.6, {"kind": "at most"}, NOT_HELD),
        (0.4, {"kind": "at least"}, NOT_HELD), (0.6, {"kind": "at least"}, AGREES),
        ((0.5, 0.4, 0.6), {"kind": "at most"}, CANNOT_TELL),
        ((0.5, 0.4, 0.6), {"kind": "at least"}, CANNOT_TELL),
        (1e-12, THEORY, CHECKED), (0.3, THEORY, SLIP),
        *((n, {"nature": "worked example", "slip": "in bits"}, SLIP) for n in (0.5099, 0.504, 0.2)),
    ],
)  # fmt: skip
def test_numbers(ours, facts, answer):
    estimate = Estimate(*ours) if isinstance(ours, tuple) else exactly(ours)
    facts = {"kind": "equal", "number": "n", "printed": 0.5, "half": 0.005} | facts
    nature = facts.pop("nature", "finding")
    row = rules.judge(claim(Test(**facts), nature=nature), {}, {"n": estimate}).rows[0]
    assert (row.answer, row.value) == (answer, estimate.value)
    assert row.note == ("slip: in bits" if "slip" in facts and ours > 0.3 else "")


def test_the_mean_of_a_method_has_the_seeds_interval_alone(rng):
    own = values(rng, 0.5, seeds=4)
    test = Test("equal", data=("D",), measures=("a",), number="u", printed=0.5, half=0.005)
    row, means = row_of(test, {"u": own}), np.array(own.means("a"))
    half = 3.18245 * means.std(ddof=1) / 2.0  # Student's t with three degrees of freedom
    expected = means.mean() + np.array([0.0, -half, half])
    assert (row.value, row.low, row.high) == pytest.approx(expected.tolist())
    assert row_of(test, {"u": values(rng, 0.5)}).note == "" and row.note == "4 seeds"


def test_other_settings_are_said_where_they_differ():
    one, two = (rules.Outcome(claim(above()), each) for each in (AGREES, OPPOSITE))
    none = rules.Outcome(claim(above()), NOT_TRIED)
    assert rules.over_settings({"x": one, "y": two}).by_setting == {"y": OPPOSITE}
    assert rules.over_settings({"x": one, "y": none}) == one
    assert rules.over_settings({"x": none, "y": two}) == two


def test_what_cannot_be_told_says_how_much_data_would(rng):
    """At that many queries the paper's own lead has its answer in half of the cases."""
    test, n = above(lead=0.05), 60

    def own(n):
        base = rng.normal(0.5, 0.2, (1, n, 1))
        folds = np.arange(n) % 3
        upper = 1.05 * base + rng.normal(0.0, 0.2, (1, n, 1))
        return {"u": per_query(("a",), upper, folds), "w": per_query(("a",), base, folds)}

    found = [row_of(test, own(n), 400) for _ in range(40)]
    said = [re.search(r"about ([\d,]+) queries", row.note) for row in found]
    assert all(bool(each) == (row.answer == CANNOT_TELL) for each, row in zip(said, found) if each)
    wanted = int(np.median([float(each[1].replace(",", "")) for each in said if each]))
    assert wanted > 2 * n
    again = [row_of(test, own(wanted), 400).answer for _ in range(60)]
    assert 0.35 < again.count(AGREES) / 60 < 0.65


def test_the_variance_between_resplits_is_that_of_the_parts_number(rng):
    """Per data set; of two sets it is that of their mean. Draws without a method do not count."""
    means = [0.50, 0.55, 0.60]
    draws = [{"D": {"u": values(rng, m, 0.0), "w": values(rng, 0.5, 0.0)},
              "E": {"u": values(rng, 0.5, 0.0)}} for m in means]  # fmt: skip
    of_part = claim(above(data=("D", "E"), part="x"), Test("equal", number="n", printed=1.0))
    (key, found), *others = rules.on_draws(of_part, draws).items()
    assert key == ("x", "D") and not others
    assert found == pytest.approx([0.0, 0.1, 0.2])
    own = {"D": {"u": values(rng, 0.55), "w": values(rng, 0.5)}}
    plain, wider = (rules.judge(of_part, own, {}, between=b).rows[0] for b in ({}, {key: found}))
    assert wider.value == plain.value and plain.units == "60 queries"
    assert wider.units == "60 queries, 3 re-splits"
    # Student's t of two degrees of freedom, whose percentiles are widened as those of 60 queries
    assert (wider.high - wider.low) / 2.0 == pytest.approx(4.6 * 0.1, rel=0.05)
    both = own | {"E": own["D"]}
    half = rules.judge(of_part, both, {}, between={key: found}).rows[0]
    assert (half.high - half.low) / 2.0 == pytest.approx(4.6 * 0.1 / 2.0, rel=0.05)
    for kind, number in (("best", -0.5), ("one-sided", 0.0)):
        test = above(kind=kind, lower=("w", "x"), beyond=0.03)
        draw = {"D": {"u": values(rng, 0.6, 0.0), "w": values(rng, 0.5, 0.0),
                      "x": values(rng, 1.2, 0.0)}}  # fmt: skip
        assert rules.on_draws(claim(test), [draw] * 2)["", "D"] == pytest.approx([number] * 2)


def test_sets_that_differ_in_sign_have_a_line_each(rng):
    def over(mean, of="E"):
        own = {"D": {"u": values(rng, 0.55), "w": values(rng, 0.5)},
               of: {"u": values(rng, mean), "w": values(rng, 0.5)}}  # fmt: skip
        outcome = rules.judge(claim(above(data=("D", of))), own, {})
        return over_specifications({"": outcome})

    assert [row.place for row in over(0.52).rows] == ["D, E"]
    apart = over(0.45)
    assert [(row.place, row.answer) for row in apart.rows] == [
        ("D", AGREES), ("E", OPPOSITE),
    ]  # fmt: skip
    assert apart.answer == IN_PART


def test_an_answer_stands_in_nine_of_ten_specifications_or_depends_on_a_choice(rng):
    """On the choice that turns it most, by name; what was not tried does not count."""

    def over(means):
        made = {
            name: rules.judge(claim(above()), {"D": {"u": values(rng, m), "w": values(rng, 0.5)}}
                              if m else {}, {}) for name, m in means.items()
        }  # fmt: skip
        choices = {name: {"prior": name[0], "stop": name[1]} for name in means}
        return over_specifications(made, choices)

    every = [f"{a}{b}" for a, b in product("xy", "01234")]
    held = over({name: 0.45 if name == "y4" else 0.6 for name in every})
    assert held.answer == AGREES and held.rows[0].note == "in 9 of 10 specifications: agrees"
    assert [(name, answer) for *_, name, answer, _, _, _ in held.curve][-1] == ("y4", OPPOSITE)
    turned = over({name: 0.45 if name[0] == "y" and name != "y0" else 0.6 for name in every})
    assert turned.answer == turned.rows[0].answer == "depends on prior"
    assert over({name: 0.45 if name[1] in "34" else 0.6 for name in every}).answer == (
        "depends on stop"
    )
    assert over({"x0": 0.6, "x1": None, "y0": None}).rows[0].note == ""


def test_headlines_are_corrected_by_holm(rng):
    """The i-th most certain of m has the level 5 % / (m - i + 1); others are left alone."""

    def of(among, answer=AGREES, headline=True):
        row = rules.Verdict("", "above", "D", "", answer, 0.1, 0.05, 0.2, among=among)
        made = Claim("p", "c", "x", "q", "s", (above(),), "says", headline=headline)
        return rules.Outcome(made, answer, (row,))

    def told(*outcomes):
        return [each.answer for each in rules.corrected(outcomes)]

    assert told(of(2), of(3), of(1)) == [AGREES] * 3
    assert told(of(2), of(2), of(1)) == [CANNOT_TELL] * 3
    assert told(of(3), of(1), of(1), of(1, headline=False)) == [AGREES, *[CANNOT_TELL] * 2, AGREES]
    assert told(of(1, "depends on x"), of(None), of(1)) == ["depends on x", AGREES, CANNOT_TELL]
    own = {"u": values(rng, 0.6), "w": values(rng, 0.5)}
    assert row_of(above(), own).among == rules.MOST
