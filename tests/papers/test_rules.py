"""The rules of the answers, on values whose answer is known, each against an independent count."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import nct, norm, t, ttest_1samp
from test_pages import as_shown

from letorbench.analysis import paired
from letorbench.analysis.leads import Lead
from letorbench.papers import paper, records, rules
from letorbench.papers.claims import Point, Test, claims_of
from letorbench.papers.rules import EXCLUDED, OPEN, SHOWN
from letorbench.papers.runs import Measured, Values, exactly

FOLDS = np.repeat([1, 2, 3, 4, 5], 20)
N = len(FOLDS)


def values(columns, draws=False, folds=FOLDS, measures=("m",)):
    """Values of one measure, (n,) or (repeats, n); or of several, a list of (n,)."""
    table = np.atleast_2d(columns)[:, :, None] if len(measures) == 1 else np.stack(columns, 1)[None]
    return Values(measures, table, folds, draws)


def apart(lead, sd=0.1, base=0.5, n=N):
    """An upper and a lower method whose differences have exactly this mean and deviation."""
    d = np.tile([1.0, -1.0], n // 2)
    d = lead + sd * d / d.std(ddof=1)
    lower = np.full(n, base)
    return {"a": values(lower + d, folds=FOLDS[:n]), "b": values(lower, folds=FOLDS[:n])}


def claim(nature="finding", **test):
    made = {"id": "c", "part": "p", "quote": "q", "where": "w", "nature": nature, "kind": "above",
            "data": ["D"], "measures": ["m"], "upper": ["a"], "lower": ["b"]}  # fmt: skip
    return claims_of("paper", {"claim": [made | test]}, {})[0]


def judged(found, **test):
    return rules.judge(claim(**test), {"D": found}, {})


def number(kind, printed, ours, half=0.0, nature="finding"):
    made = claim(nature, kind=kind, data=[], measures=[], upper=[], lower=[], number="x",
                 printed=printed, half=half)  # fmt: skip
    return rules.judge(made, {}, {"x": ours})


def test_seeds_are_drawn_too():
    rng = np.random.default_rng(2)
    a = rng.uniform(size=N) + rng.normal(0.0, 0.3, (4, 1)) + rng.normal(0.0, 0.1, (4, N))
    b = rng.uniform(size=N)
    lead = rules.lead_of(values(a), values(b), "m")
    expected = paired.t(a.mean(axis=0), b, paired.seed_variances(a, b[None], FOLDS))
    assert 2.0 * min(lead.above(), lead.below()) == pytest.approx(expected)
    alone = rules.lead_of(values(a.mean(axis=0)), values(b), "m")
    assert lead.error > 1.2 * alone.error and lead.unit == "query and seed"


def test_few_units_that_differ_are_few_degrees_of_freedom():
    d = np.zeros(N)
    d[:4] = [0.2, 0.3, 0.25, 0.2]
    assert 5.0 < Lead.summed(d, 0.5).degrees < 9.0  # about two for each that differs
    assert Lead.summed(np.random.default_rng(0).normal(size=4_000), 0.5).degrees > 3_600


def test_draws_of_generated_data_are_the_units_and_not_their_queries():
    rng = np.random.default_rng(3)
    shift = np.repeat([0.03, -0.01, 0.02, 0.05, -0.02], 20)
    b = rng.uniform(size=N)
    a = b + shift + rng.normal(0.0, 0.001, N)
    by_draw = rules.lead_of(values(a, True), values(b, True), "m")
    means = [(a - b)[FOLDS == k].mean() for k in range(1, 6)]
    assert 2.0 * by_draw.above() == pytest.approx(ttest_1samp(means, 0.0).pvalue)
    assert (by_draw.units, by_draw.degrees, by_draw.unit) == (5, 4.0, "draw")
    test = {"D": {"a": values(a, True), "b": values(b, True)}}
    assert rules.judge(claim(), test, {}).answer == rules.UNDECIDED
    by_query = {"D": {"a": values(a), "b": values(b)}}
    assert rules.judge(claim(), by_query, {}).answer == rules.REPRODUCED
    one = FOLDS == 1
    single = rules.lead_of(values(a[one], True, FOLDS[one]), values(b[one], True, FOLDS[one]), "m")
    assert rules.questions("above", single, 0.01) == (1.0, 1.0)


#: kind, printed lead, answer -> leads; of 100 queries with a deviation of .1 the interval is the
#: mean +- .0198, and without a printed lead the margin is .015
LEADS = {
    ("above", None, "reproduced"): (0.021,),
    ("above", 0.10, "reproduced"): (0.021,),  # smaller than printed, and above
    ("above", None, "undecided"): (0.019, 0.0, -0.004),  # .0150 is not beyond .0198
    ("above", 0.039, "undecided"): (0.0,),  # .0195 is not
    ("above", 0.04, "not reproduced"): (0.0,),  # .0200 is
    ("above", None, "not reproduced"): (-0.006, -0.03),
    ("not below", None, "reproduced"): (0.005,),
    ("not below", None, "undecided"): (0.0045, -0.034),
    ("not below", None, "not reproduced"): (-0.035,),
    ("alike", None, "undecided"): (0.0, 0.034),
    ("alike", None, "not reproduced"): (0.035, -0.035),
}


@pytest.mark.parametrize(("kind", "printed", "answer"), LEADS)
def test_a_lead_is_judged_by_its_interval_and_the_margin(kind, printed, answer):
    for lead in LEADS[kind, printed, answer]:
        assert judged(apart(lead), kind=kind, lead=printed).answer == answer


def test_alike_by_an_interval_within_the_margin():
    """With a deviation of .07 half of the interval is .0139."""
    answers = [judged(apart(lead, 0.07), kind="alike").answer for lead in (0.0, 0.001, 0.0012)]
    assert answers == [rules.REPRODUCED, rules.REPRODUCED, rules.UNDECIDED]


def test_margins_are_the_printed_differences():
    def margin(kind, numbers, upper="a", lower="b"):
        test = Test(kind, ("D",), ("m",), (upper,), ("b", "c"), numbers=numbers)
        return rules.margin_of(test, Point("D", upper, lower, "m", test._lead(upper, lower, "m")))

    printed = {"a": 0.50, "b": 0.40, "c": 0.51}
    assert margin("above", printed) == pytest.approx(0.25)
    assert margin("above", {}) == margin("above", printed, lower="c") == rules.MARGIN == 0.03
    assert margin("not below", printed) == pytest.approx(1.0 - 0.50 / 0.51)
    assert margin("alike", printed) == pytest.approx(0.25)
    assert margin("not below", {"a": 0.5, "b": 0.4}) == margin("alike", {}) == 0.03


def test_a_state_is_by_both_corrected_p():
    states = [rules.state_of(*p) for p in ((0.049, 0.04), (0.05, 0.049), (0.05, 0.05))]
    assert states == [SHOWN, EXCLUDED, OPEN]


def test_refutations_are_corrected_for_all_data_of_the_claim():
    against, shown = apart(-0.015), apart(0.05)
    alone = judged(against)
    both = rules.judge(claim(data=["D", "E"]), {"D": against, "E": shown}, {})
    assert alone.answer == both.answer == rules.NOT_REPRODUCED and alone.p > 1e-6
    assert both.p == pytest.approx(2.0 * alone.p)


#: groups of comparisons that are shown, excluded or open; how many must show it of how many
COUNTS = {
    rules.REPRODUCED: ("S S/-", "S S S/3 of 5", "S S SS/3 of 5"),
    rules.UNDECIDED: ("S O/-", "S/- of 2", "S S SO/3 of 5", "S S E E/3 of 5", "S S E E O/3 of 5",
                      "E E/3 of 5"),
    rules.NOT_REPRODUCED: ("S E O/-", "E/- of 2", "S S E E SE/3 of 5", "E E E/3 of 5"),
}  # fmt: skip


@pytest.mark.parametrize("answer", COUNTS)
def test_a_count_holds_where_so_many_groups_show_it_of_so_many(answer):
    states = {"S": SHOWN, "E": EXCLUDED, "O": OPEN}
    for groups, _, count in (each.partition("/") for each in COUNTS[answer]):
        least, _, of = (int(n) if n.isdigit() else None for n in (count + " of -").split(" ")[:3])
        made = [[states[letter] for letter in group] for group in groups.split()]
        assert rules.answer_of(made, least, of) == answer, (groups, count)


def test_a_claim_that_a_number_refutes_has_no_p():
    number = {"kind": "equal", "data": [], "measures": [], "upper": [], "lower": [], "number": "x",
              "printed": 0.5, "half": 0.0}  # fmt: skip
    for ours, known in ((0.5, True), (0.9, False)):
        made = rules.judge(claim(test=[{}, number]), {"D": apart(-0.05)}, {"x": exactly(ours)})
        assert made.answer == rules.NOT_REPRODUCED and (made.p is not None) == known


#: kind, answer -> printed numbers, of ours .50 [.45, .55], with half a digit of .005
NUMBERS = {
    ("equal", "reproduced"): (0.5555, 0.4505),  # .55 + half of .01 + 1 % of .5555 is above it
    ("equal", "not reproduced"): (0.5610, 0.4400),
    ("at least", "reproduced"): (0.4590,),
    ("at least", "undecided"): (0.4700,),
    ("at least", "not reproduced"): (0.5620,),
    ("at most", "reproduced"): (0.5450,),
    ("at most", "undecided"): (0.5340, 0.4500),
    ("at most", "not reproduced"): (0.4300,),
}


@pytest.mark.parametrize(("kind", "answer"), NUMBERS)
def test_a_number_is_met_within_its_last_digit_and_what_is_left_to_chance(kind, answer):
    for printed in NUMBERS[kind, answer]:
        assert number(kind, printed, Measured(0.50, 0.45, 0.55), 0.005).answer == answer


def test_one_percent_for_implementations_is_for_findings_alone():
    for ours, nature, answer in (
        (0.4649, "worked example", "reproduced"), (0.4674, "worked example", "not reproduced"),
        (0.4674, "finding", "reproduced"), (0.4700, "finding", "not reproduced"),
    ):  # fmt: skip
        assert number("equal", 0.46, exactly(ours), 0.005, nature).answer == answer


def test_two_settings_with_two_answers_are_told_as_such():
    answers = ("reproduced", "undecided", "no data")
    yes, no, none = (rules.Outcome(claim(), answer) for answer in answers)
    assert rules.over_settings({"x": yes, "y": yes}).answer == rules.REPRODUCED
    assert rules.over_settings({"x": none, "y": yes}).answer == rules.REPRODUCED
    both = rules.over_settings({"x": yes, "y": no, "z": none})
    assert both.answer == rules.DEPENDS
    assert both.by_setting == {"x": "reproduced", "y": "undecided"}
    assert rules.over_settings({"x": none}).answer == rules.NO_DATA


def test_the_findings_of_a_paper_are_corrected_together():
    made = [rules.Outcome(claim(), rules.REPRODUCED, p=p) for p in (0.02, 0.03, 0.04, None)]
    made.append(rules.Outcome(claim(), rules.NOT_REPRODUCED, p=1e-4))
    family = rules.over_family(made)
    assert [o.family for o in family] == [pytest.approx(p) if p is not None else None
                                          for p in (0.06, 0.06, 0.06, None, 4e-4)]  # fmt: skip
    assert [o.answer for o in family] == [o.answer for o in made]
    assert [o.corrected for o in family] == [
        "undecided", "undecided", "undecided", "reproduced", "not reproduced"
    ]  # fmt: skip


def test_the_replication_bayes_factor_against_its_integral():
    """Verhagen and Wagenmakers: the mean of the noncentral t's density over the paper's effect."""
    for found, effect, degrees in ((1.5, 2.0, 30), (0.0, 2.5, 60), (2.8, 2.0, 4)):
        centres = effect + norm.ppf((np.arange(400) + 0.5) / 400)
        expected = nct.pdf(found, degrees, centres).mean() / t.pdf(found, degrees)
        lead = Lead(found * 0.1, 0.1, float(degrees), 1.0, degrees + 1)
        assert rules.bayes_factor(lead, effect * 0.1) == pytest.approx(expected, rel=0.01)
    assert rules.bayes_factor(lead, 0.2) > 1.0


#: what a sentence says: its name, and what differs from "a is above b by m on D"
SENTENCES = {
    "all": {"data": ["D", "E", "F"], "upper": ["a", "c", "s"], "measures": ["m", "n"]},
    "count": {"data": ["D", "E", "F"], "upper": ["a", "c"], "measures": ["m"], "least": 1, "of": 3},
    "points": {"upper": ["a", "c"], "measures": ["m", "n"], "least": 2, "of": 2, "per": "point"},
    "pairs": {"pairs": [["a", "c"], ["c", "b"]], "upper": [], "lower": [], "measures": ["n"]},
    "leads": {"numbers": {"a": 0.5, "b n": 0.4, "b": 0.45}, "measures": ["m", "n"]},
    "not below": {"kind": "not below", "lead": -0.05, "lower": ["a", "b"], "upper": ["c", "s"]},
    "alike": {"kind": "alike", "numbers": {"a": 0.5, "b": 0.45, "c": 0.4}, "lower": ["b", "c"]},
    "lower gone": {"data": ["D", "E"], "lower": ["c"]},
    "means": {
        "kind": "at most",
        "number": "a",
        "printed": 0.5,
        "data": ["E", "D"],
        "measures": ["m", "n"],
        "test": [{}, {"number": "s", "kind": "equal", "half": 0.01}],
    },
    "number": {
        "kind": "at least",
        "number": "x",
        "printed": 0.5,
        "test": [{}, {"number": "y"}],
        "data": [],
        "measures": [],
    },
    "same": {"upper": ["b"], "lower": ["b", "e"], "pairs": [["b", "e"]]},
    "no data": {"data": ["F"]},
    "reached": {"data": ["D", "E", "F"], "least": 1, "of": 3},
    "each": {"upper": ["a", "c"], "least": 1, "per": "each"},
    "with a mean": {"test": [{}, {"kind": "equal", "number": "b", "printed": 0.51}]},
    "with another": {"test": [{}, {"kind": "equal", "number": "b", "printed": 0.52}]},
    "with a gap": {
        "test": [
            {"data": ["D", "F"], "least": 1, "of": 2},
            {"measures": ["n"]},
            {"kind": "equal", "number": "y", "printed": 1.0, "measures": []},
        ]
    },
}


def test_all_that_comes_of_sentences(tmp_path):
    """a is .05 above b by m and .02 by n, c falls short, s has three seeds, e equals b."""
    rng = np.random.default_rng(1)
    base, noise = rng.uniform(0.2, 0.8, N), rng.normal(0.0, 0.1, (2, 3, N))
    moved = {"a": (0.05, 0.02), "b": (0.0, 0.0), "c": (-0.04, -0.01), "s": (0.01, 0.03),
             "e": (0.0, 0.0)}  # fmt: skip
    found = {}
    for name, leads in moved.items():
        drawn = noise[:, : 3 if name == "s" else 1] * (name not in "be")
        table = np.stack([base + lead + each for lead, each in zip(leads, drawn)], axis=2)
        found[name] = Values(("m", "n"), table, FOLDS)
    few = {name: Values(("m", "n"), found[name].values[:, :6], FOLDS[:6], True) for name in "ab"}
    few = {name: replace(each, folds=np.repeat([1, 2, 3], 2)) for name, each in few.items()}
    kept = {}
    for name, test in SENTENCES.items():
        made = replace(claim(**test), id=name)
        numbers = {"x": Measured(0.48, 0.45, 0.51, "three seeds")}
        kept[name, ""] = rules.judge(made, {"D": found, "E": few}, numbers)
    (outcomes, claims, points) = records.write_outcomes(tmp_path, paper("lecture-2018"), kept)
    as_shown("rules.txt", claims.read_text() + points.read_text())


def test_a_claim_is_of_the_data_that_it_names():
    assert claim(general=True).on("E").data == ("E",)
    assert claim().on("E") is None  # a sentence of a data set says nothing of others
    assert claim(general=True, least=1).on("E") is None
    assert claim(general=True, data=["D", "F"]).on("E") is None
