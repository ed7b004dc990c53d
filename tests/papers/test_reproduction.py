"""A whole reproduction: what is run, judged, kept, printed and shown on a page."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import printed, refused
from toy_data import SIZES, write_uneven

from letorbench.papers import (
    calibration,
    paper,
    paper_page,
    records,
    rules,
    runs,
    views,
)
from letorbench.papers import printed as of_print
from letorbench.papers.claims import claims_of
from letorbench.papers.paper import Found, Part, elsewhere, judged, reproduce, run_part
from letorbench.papers.paper_page import write_page
from letorbench.papers.runs import Measured, Study, Values, Variant, exactly

FOLDS = np.repeat([1, 2], 30)
FACTS = {"id": "c", "part": "figure-1", "quote": "a is above b", "where": "section 1",
         "kind": "above", "data": ["UNEVEN"], "upper": ["lines"], "lower": ["chance"],
         "measures": ["ndcg@10"]}  # fmt: skip


def values(mean, seed=0):
    column = mean + np.random.default_rng(seed).normal(0.0, 0.01, len(FOLDS))
    return Values(("ndcg@10",), column[None, :, None], FOLDS)


def small(**part):
    """A paper of one part that compares regression with random order."""
    made = Part(
        "figure-1", "Figure 1", "curves", ("UNEVEN", "OHSUMED"), (), ("lines", "chance"),
        ("ndcg@1", "ndcg@10"), **part,
    )  # fmt: skip
    return replace(
        paper("lecture-2018"), name="small", parts={"figure-1": made},
        claims=claims_of("small", {"claim": [FACTS]}, {}),
        methods={"lines": Variant("lines", "regression"), "chance": Variant("chance", "random")},
    )  # fmt: skip


@pytest.fixture
def study(tmp_path):
    write_uneven(tmp_path / "data")
    return Study(tmp_path / "data", tmp_path / "results")


def test_a_part_is_run_judged_and_kept(study, tmp_path):
    result = reproduce(small(), study, calibrate=True)
    (outcome,) = result.outcomes
    (row,) = outcome.rows
    assert outcome.answer in rules.ANSWERS[:4] and row.units.endswith("queries")
    names = {path.name for path in result.files}
    assert {"figure-1.png", "figure-1.csv", "claims.csv", "comparisons.csv", "outcomes.json",
            "setting.txt", "calibration-figure-1.csv"} <= names  # fmt: skip
    assert "Figure 1: without OHSUMED, not at hand" in result.differs
    kept = records.read_outcomes(study.folder("small"), small())
    assert kept["c", ""] == replace(outcome, family=None)
    with (study.folder("small") / "comparisons.csv").open(newline="") as file:
        (stored,) = csv.DictReader(file)
    assert float(stored["value"]) == row.value and stored["claim"] == "c"
    page = write_page(result, study, tmp_path / "pages").read_text()
    assert "a is above b (section 1)" in page and "small-figure-1.png" in page


def test_two_protocols_with_two_answers(study):
    ways = {"one": ("ndcg@10", "published"), "two": ("map", "letor")}
    found = run_part(small(), small(protocols=ways).parts["figure-1"], study)
    assert list(found.values) == ["one", "two"]
    folders = sorted(path.name for path in (study.out / "papers" / "runs").iterdir())
    assert folders == ["map-letor", "ndcg@10"]
    trained = {path: path.stat().st_mtime_ns for path in study.out.rglob("scores.txt")}
    run_part(small(), small(protocols=ways).parts["figure-1"], study)
    assert {p: p.stat().st_mtime_ns for p in study.out.rglob("scores.txt")} == trained
    assert {path.name for path in found.files} >= {"figure-1.csv", "figure-1-protocol-2.csv"}
    both = Found({
        "one": {"UNEVEN": {"lines": values(0.5), "chance": values(0.4, 1)}},
        "two": {"UNEVEN": {"lines": values(0.4), "chance": values(0.4, 1)}},
    })  # fmt: skip
    (outcome,) = judged(small().claims, both)
    assert (outcome.answer, list(outcome.by_setting)) == (rules.DEPENDS, ["one", "two"])
    assert records.said(outcome) == "depends on: one: reproduced; two: not reproduced"


def test_two_settings_with_two_answers(study):
    made = small()
    first = reproduce(made, study).outcomes[0]
    other = "undecided" if first.answer != "undecided" else "reproduced"
    stored = {("c", ""): replace(first, answer=other)}
    records.write_outcomes(study.folder("small", "published"), made, stored)
    (outcome,) = reproduce(made, study).outcomes
    assert outcome.by_setting == {"default": first.answer, "published": other}


def test_other_data_stand_apart_and_made_up_data_are_no_evidence():
    both = {"lines": values(0.5), "chance": values(0.4, 1)}
    found = Found({"": {"UNEVEN": both, "MQ2008": both, "DEMO": both, "OHSUMED-twin": both}})
    assert elsewhere(small().claims, found) == []
    (outcome,) = elsewhere([replace(claim, general=True) for claim in small().claims], found)
    assert (outcome.place, outcome.answer) == ("MQ2008", rules.REPRODUCED)
    assert outcome.rows[0].place == "MQ2008"
    (own,) = judged(small().claims, Found({"": {"DEMO": both}}))
    assert own.answer == rules.NO_DATA


def test_outcomes_of_parts_that_are_not_run_now_stay(study, tmp_path):
    made = small(takes="3 min")
    more = replace(made, claims=claims_of("small", {"claim": [FACTS, {**FACTS, "id": "d",
                   "part": "figure-2"}]}, {}), parts={**made.parts, "figure-2": replace(
                   made.parts["figure-1"], name="figure-2")})  # fmt: skip
    before = reproduce(more, study, ["figure-2"])
    assert [(o.claim.id, o.answer) for o in before.outcomes if o.answer == "not run"] == [
        ("c", "not run")
    ]
    told = "not run (part figure-1; `make small/figure-1`)"
    page = write_page(before, study, tmp_path / "pages").read_text()
    assert f"| {told} |" in page and "- Figure 1: `make small/figure-1`, about 3 min" in page
    assert [o.claim.id for o in reproduce(more, study, ["figure-1"]).outcomes] == ["c", "d"]
    assert [o.claim.id for o in reproduce(made, study, ["figure-1"]).outcomes] == ["c"]


def test_the_command_prints_what_came_out(tmp_path):
    where = ["--out", str(tmp_path), "--data-dir", str(tmp_path), "--pages", str(tmp_path / "p")]
    shown = printed("reproduce", "lecture-2018", "--calibrate", *where)
    row = r"^distance-f-g +none +not reproduced +0\.46 +0\.4674 +- +- *$"
    assert re.search(row, shown, re.MULTILINE)
    files = {Path(name) for name in re.findall("^(?:file|page)  (.+)$", shown, re.MULTILINE)}
    assert files == {path for path in tmp_path.rglob("*") if path.is_file()}
    assert "lecture-2018  worked example  3       1 " in shown
    assert (
        "the distance of the lists f and g is 0.46" in (tmp_path / "p/lecture-2018.md").read_text()
    )
    assert "figure-9" in refused(2, "reproduce", "lecture-2018", "--part", "figure-9", *where)


def test_a_table_has_ours_below_each_of_the_papers_rows(tmp_path):
    made = paper("functionals")
    part = made.parts["table-8"]
    ours = {label: Values(("err",), np.full((1, 4, 1), 0.25), np.ones(4)) for label in part.methods}
    files = views.files(made, part, {"": {"MQ2008": ours}}, tmp_path)
    with files[0].open(newline="") as file:
        rows = list(csv.reader(file))
    assert rows[0] == ["row", "data", "WPL", "RPL", "WpLL"]
    assert rows[1] == ["1", "paper", "0.4845", "0.498", "0.4882"]
    assert rows[2] == ["1", "MQ2008", "0.25", "0.25", "0.25"] and len(rows) == 13
    five = views.printed_table(made, made.parts["table-5"], {}, tmp_path / "t", "Table 5")
    assert "0.15, 14,425" in five[1].read_text() and "0.5048" in five[1].read_text()


def test_a_page_tells_its_headlines_first_and_what_code_it_is_from(study, tmp_path, monkeypatch):
    head = {**FACTS, "headline": True, "lead": 0.001, "says": "lines are above chance"}
    number = {**FACTS, "id": "d", "kind": "equal", "number": "lines", "printed": 0.5, "half": 0.1}
    made = replace(small(), claims=claims_of("small", {"claim": [head, number]}, {}))
    assert made.means == {("UNEVEN", "lines", "ndcg@10"): 0.5}
    result = reproduce(made, study, ["figure-1"])
    assert "the paper's lines: 0.5" in (study.folder("small") / "figure-1.svg").read_text()
    page = write_page(result, study, tmp_path / "p").read_text()
    order = ["- lines are above chance: **", "UNEVEN: lines over chance, ndcg@10: +",
             "![figure-1 of small](small-figure-1.png)", "## Findings", "From code `"]  # fmt: skip
    assert sorted(order, key=page.index) == order
    made_by = paper_page.origin([made], study)
    assert page.endswith(f"{made_by}\n") and "; UNEVEN `" in made_by
    summary = paper_page.write_summary([result], study, tmp_path / "p").read_text()
    assert "| small | lines are above chance | " in summary and "[small](small.md)" in summary
    assert "| UNEVEN | ndcg@10 | 1 |" in summary and summary.endswith(f"{made_by}\n")
    monkeypatch.setattr(paper_page, "JUDGING", ("papers/rules.py",))
    assert paper_page.origin([made], study) != made_by
    row = rules.Row(
        "above", "D", "a over b", "open", 0.0, 0.0, 0.0, printed=0.01, smallest=0.02, base=0.5
    )  # fmt: skip
    (first, *_) = result.outcomes
    beside = [replace(result, elsewhere=(replace(first, place="E"),))]
    summary = paper_page.write_summary(beside, study, tmp_path / "p").read_text()
    assert "| small | lines are above chance, on E | " in summary
    (told,) = calibration.too_small([replace(first, rows=(row,))])
    assert told == ["c", "D", "a over b", "2.0 %", "4.0 %"]
    assert calibration.too_small([replace(first, rows=(replace(row, smallest=0.009),))]) == []


def test_a_specification_is_every_combination(study):
    part = Part("s", "rise", "specification", ("UNEVEN",), (), (), ("ndcg@10",),
                axes={"rounds": {"2": {"rounds": 2}, "4": {"rounds": 4}},
                      "tool": {"a": {"convention": "standard"}, "b": {"convention": "letor3"}}},
                upper={"algo": "ndcgboost", "printed": 0.5})  # fmt: skip
    found = run_part(small(), part, study)
    (table,) = (path for path in found.files if path.name == "s.csv")
    with table.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [(row["rounds"], row["tool"]) for row in rows] == [
        ("2", "a"), ("2", "b"), ("4", "a"), ("4", "b")
    ]  # fmt: skip
    assert len({row["value"] for row in rows}) == 4
    (levels,) = (path for path in found.files if path.name == "s-levels.csv")
    with levels.open(newline="") as file:
        first, *_, last = csv.DictReader(file)
    values = [float(row["value"]) for row in rows]
    assert (first["choice"], first["setting"], last["setting"]) == ("rounds", "2", "b")
    assert (first["specifications"], float(first["least"])) == ("2", min(values[:2]))
    assert float(last["mean"]) == pytest.approx((values[1] + values[3]) / 2.0)


PLAIN = Variant("Regression", "regression", {})
OWN = Variant("NDCG Boost, 3 rounds", "ndcgboost", {"rounds": 3})
MEASURES = ("ndcg@1", "ndcg@3", "map")


def test_the_values_are_those_of_the_stored_queries(study):
    found = study.runs("UNEVEN", [OWN, PLAIN], MEASURES, "letor4")
    assert list(found) == [OWN.label, PLAIN.label]
    for variant in (OWN, PLAIN):
        values = found[variant.label]
        (path,) = study.out.rglob(f"{variant.algo}/per_query.csv")
        with path.open(newline="") as file:
            rows = list(csv.DictReader(file))
        assert values.folds.tolist() == [int(row["fold"]) for row in rows]
        assert len(rows) == sum(SIZES)
    one = study.runs("UNEVEN", [PLAIN], MEASURES, "letor4")[PLAIN.label]
    other = study.runs("UNEVEN", [PLAIN], MEASURES, "standard")[PLAIN.label]
    assert (one["ndcg@3"] != other["ndcg@3"]).any() and (one["map"] == other["map"]).all()
    assert np.array_equal(one["ndcg@1"], found[PLAIN.label]["ndcg@1"])


def test_a_variant_with_a_fold_that_failed_has_no_values(study, monkeypatch):
    whole = runs.run_all

    def with_failure(*args):
        report = whole(*args)
        failed = [
            replace(each, fold=None, error="no memory") if each.task.fold == 3 else each
            for each in report.outcomes
        ]
        return replace(report, outcomes=tuple(failed))

    said: list[str] = []
    study = replace(study, say=said.append)
    with monkeypatch.context() as patched:
        patched.setattr(runs, "run_all", with_failure)
        assert study.runs("UNEVEN", [PLAIN], MEASURES) == {}
    assert [line.endswith("no memory") for line in said] == [False, True]
    assert list(study.runs("UNEVEN", [PLAIN], MEASURES)) == [PLAIN.label]


def test_reproduce_tells_of_damage_before_it_runs(tmp_path: Path) -> None:
    words = ["reproduce", "lecture-2018", "--out", str(tmp_path), "--data-dir", str(tmp_path)]
    printed(*words)
    outcomes = tmp_path / "papers" / "lecture-2018" / "outcomes.json"
    whole = outcomes.read_bytes()
    outcomes.write_bytes(whole.replace(b"0", b"1", 1))
    assert "outcomes.json: damaged" in refused(1, *words)
    outcomes.unlink()
    printed(*words)
    assert outcomes.read_bytes() == whole


def test_facts_are_made_again_only_where_something_changed(tmp_path, monkeypatch):
    made = []

    def make():
        made.append(1)
        return {"one": exactly(0.1 + 0.2, "a note"), "two": Measured(1.0, 0.5, 2.0)}

    path = tmp_path / "theory.json"
    first = runs.kept(path, {"seed": (0,)}, make)
    assert runs.kept(path, {"seed": [0]}, make) == first and len(made) == 1
    assert {name: Measured(**each) for name, each in first.items()} == make()
    runs.kept(path, {"seed": 1}, make)
    assert len(made) == 3
    monkeypatch.setattr(runs, "source_digest", lambda *places: "other code")
    runs.kept(path, {"seed": 1}, make)
    assert len(made) == 4
    path.write_text(path.read_text().replace("0.5", "0.6"))
    assert runs.kept(path, {"seed": 1}, make) == first and len(made) == 5


PAPER = paper("ndcgboost-2009")
PART = PAPER.parts["printed"]


def constant(mean):
    return Values(PART.measures, np.full((1, 4, len(PART.measures)), mean), np.arange(4))


def test_a_lead_over_the_printed_baseline_differs_from_one_over_ours():
    told = of_print.of_paper(PAPER)
    assert told["OHSUMED", "frank", "ndcg@3"] == pytest.approx(0.50 / 1.04)  # implied
    assert of_print.baseline("TD2003", "frank", "ndcg@3").value == 0.267
    assert of_print.baseline("MQ2007", "listnet", "ndcg@3").source == "letor4-site"  # more digits
    ours = {"a": {"OHSUMED": {"ndcgboost": constant(0.46), "frank": constant(0.43)},
                  "TD2003": {"ranksvm": constant(0.3465)}}}  # fmt: skip
    rows = {tuple(row[:3]): row[3:] for row in of_print.numbers(PAPER, PART, ours)}
    assert rows["OHSUMED", "frank", "NDCG@3"] == [pytest.approx(0.4808, abs=1e-4), None, 0.43,
                                                  "by 0 of 1"]  # fmt: skip
    assert rows["TD2003", "ranksvm", "NDCG@3"] == [0.34, 0.344, pytest.approx(0.3465), "by 1 of 1"]
    assert rows["TD2003", "frank", "NDCG@1"] == [None, 0.3, None, "-"]
    leads = {tuple(row[:3]): row[3:] for row in of_print.leads(PAPER, PART, ours)}
    assert leads["OHSUMED", "NDCG@3", "ndcgboost over frank"] == ["+4.0 %", "-4.3 %", "+7.0 %"]
    assert leads["TD2003", "NDCG@3", "regression over frank"] == ["+15.0 %", "-", "-"]
    said = of_print.sentence(
        of_print.numbers(PAPER, PART, ours), of_print.leads(PAPER, PART, ours)
    )  # fmt: skip
    assert "frank on OHSUMED 0 of 1" in said and said.endswith("frank on OHSUMED at NDCG@3.")


def test_only_methods_with_a_printed_number_are_run():
    assert of_print.compared(PAPER, PART, "OHSUMED") == ["frank", "ndcgboost"]
    assert "frank" not in of_print.compared(PAPER, PART, "MQ2008")
    assert of_print.meets(0.3477, 0.344, 3) and not of_print.meets(0.3485, 0.344, 3)
