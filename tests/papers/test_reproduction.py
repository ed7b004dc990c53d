"""A whole reproduction: what is run, judged, kept, printed and shown on a page."""

import re
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import places, printed, refused
from test_pages import as_shown, per_query
from toy_data import write_toy, write_uneven

import letorbench as lb
from benchmarks import judging
from letorbench import papers
from letorbench.papers import paper, paper_page, records, rules, runs
from letorbench.papers.paper import Part, PartResult, claims_of
from letorbench.papers.reproduction import elsewhere, reproduce, run_part
from letorbench.papers.runs import Context, Method
from letorbench.papers.specifications import judged, specifications

FOLDS = np.repeat([1, 2], 30)
FACTS = {"id": "c", "part": "figure-1", "quote": "a is above b", "where": "section 1",
         "kind": "above", "data": ["UNEVEN"], "upper": ["lines"], "lower": ["chance"],
         "measures": ["ndcg@10"]}  # fmt: skip


def values(mean, seed=0):
    column = mean + np.random.default_rng(seed).normal(0.0, 0.01, len(FOLDS))
    return per_query(("ndcg@10",), column[None, :, None], FOLDS)


def small(*facts, **part):
    """A paper of one part that runs regression and random order, with claims of these facts."""
    made = Part(
        "figure-1", "Figure 1", "curves", ("UNEVEN", "OHSUMED"), methods=("lines", "chance"),
        measures=("ndcg@1", "ndcg@10"), **part,
    )  # fmt: skip
    return replace(
        paper("lecture-2018"), name="small", parts={"figure-1": made},
        claims=claims_of("small", {"claim": facts or [FACTS]}, {}),
        methods={"lines": Method("lines", "regression"), "chance": Method("chance", "random")},
    )  # fmt: skip


@pytest.fixture
def context(tmp_path):
    write_uneven(tmp_path / "data")
    return Context(tmp_path / "data", tmp_path / "results")


def test_a_part_is_run_judged_and_kept(context):
    result = reproduce(small(), context)
    (outcome,) = result.outcomes
    assert outcome.answer in (rules.AGREES, rules.CANNOT_TELL, rules.OPPOSITE)
    names = [path.name for path in result.files if path.suffix != ".txt"]
    assert names == ["figure-1.csv", "figure-1.png", "figure-1.svg", "figure-1.pdf",
                     "outcomes.json", "claims.csv", "comparisons.csv",
                     "specifications.csv"]  # fmt: skip
    assert {path.parent for path in result.files} == {context.folder("small")}
    kept = records.read_outcomes(context.folder("small"), small())
    assert kept["c", ""] == outcome
    # another answer with the paper's setting is shown beside it
    other = rules.AGREES if outcome.answer != rules.AGREES else rules.OPPOSITE
    stored = {("c", ""): replace(outcome, answer=other)}
    records.write_outcomes(context.folder("small", "published"), stored)
    (again,) = reproduce(small(), context).outcomes
    assert (again.answer, again.by_setting) == (outcome.answer, {"published": other})


def test_every_combination_of_protocols_and_choices_is_judged(context):
    ways = {"one": ("ndcg@10", "published"), "two": ("map", "letor")}
    axes = {"NDCG": {"a": {"convention": "letor3"}, "b": {"convention": "standard"}}}
    found = run_part(small(), small(protocols=ways, axes=axes).parts["figure-1"], context)
    assert list(found.values) == ["a, one", "a, two", "b, one", "b, two"]
    assert found.choices["b, one"] == {"NDCG": "b", "selection": "one"}
    folders = sorted(path.name for path in (context.out / "papers" / "runs").iterdir())
    assert folders == ["map-letor", "ndcg@10"]
    assert {path.name for path in found.files} >= {"figure-1.csv", "figure-1-protocol-2.csv"}


def test_an_axis_changes_the_methods_that_have_its_setting(context):
    """A claim counts a specification that changes none of its methods as no other one."""
    axes = {"prior": {"chosen": {}, "none": {"l2": 0.0}},
            "choice": {"m": {}, "n": {"select": "map"}}}  # fmt: skip
    named = {"lines": Method("lines", "adarank-ndcg"), "w": Method("w", "wpl"),
             "chance": Method("chance", "random")}  # fmt: skip
    made = replace(small(axes=axes), methods=named)
    part = replace(made.parts["figure-1"], methods=tuple(named))
    found = run_part(made, part, context).values
    of = {name: each["UNEVEN"] for name, each in found.items()}
    assert list(of) == ["chosen, m", "chosen, n", "none, m", "none, n"]
    assert of["none, m"]["lines"] is of["chosen, m"]["lines"]
    assert of["none, m"]["w"].mean("ndcg@10") != of["chosen, m"]["w"].mean("ndcg@10")
    claims = small(FACTS, FACTS | {"id": "d", "upper": ["w"]}).claims
    choices = {way.name: way.choices for way in specifications(part, "default")}
    shown = [judged(claim, PartResult(found, choices=choices)) for claim in claims]
    assert [[each[2] for each in o.curve] for o in shown] == [["chosen, m", "chosen, n"], list(of)]


def test_resplits_run_what_claims_compare(context):
    """In our specification, where folds can be drawn anew; none in the paper's setting."""
    write_toy(context.data_dir, "MQ2008")
    facts = FACTS | {"general": True, "measures": ["ndcg@1"]}
    made = small(facts, other_data=("MQ2008",), resplits=3)
    part = made.parts["figure-1"]
    found = run_part(made, part, context)
    rotating = [d for d in ("UNEVEN", "MQ2008") if context.rotates(d)]
    assert "MQ2008" in rotating
    assert [list(draw) for draw in found.redrawn] == [rotating] * 3
    own = [draw["MQ2008"] for draw in found.redrawn]
    assert all(list(each) == ["lines", "chance"] for each in own)
    means = [each["lines"].mean("ndcg@1") for each in own]
    assert len(set(means)) == 3
    again = context.runs("MQ2008@split2", [made.methods["lines"]], ["ndcg@1"])
    assert again["lines"].mean("ndcg@1") == means[1]
    (outcome,) = elsewhere(made.claims, found)
    alone = judged(made.claims[0].on("MQ2008"), replace(found, redrawn=())).rows[0]
    row = outcome.rows[0]
    assert row.units.endswith(", 3 re-splits") and not alone.units.endswith("re-splits")
    assert row.high - row.low > alone.high - alone.low and row.value == alone.value
    assert run_part(made, part, replace(context, setting="published")).redrawn == ()


def test_the_calibration_of_the_rules_runs(context, monkeypatch):
    """A row for each data set on which a claim is judged, of all parts or of those asked for."""
    write_toy(context.data_dir, "MQ2008")
    facts = FACTS | {"general": True, "measures": ["ndcg@1"], "lead": 2.0}
    made = small(facts, other_data=("MQ2008",), resplits=3)
    monkeypatch.setattr(judging, "PAPERS", {"small": ""})
    monkeypatch.setattr(judging, "paper", lambda name: made)
    monkeypatch.setattr(judging, "MOST", 100)
    found = [dict(zip(judging.HEAD, row)) for row in judging.rows((), context, 8)]
    assert [row["data"].partition(",")[0] for row in found] == ["UNEVEN", "MQ2008"]
    assert {row["claim"] for row in found} == {"small/c"}
    assert [row["right at"] for row in found] == ["+200.0%"] * 2
    assert list(judging.rows(("small/figure-2",), context, 8)) == []


def test_other_data_stand_apart_and_made_up_data_are_no_evidence():
    both = {"lines": values(0.5), "chance": values(0.4, 1)}
    found = PartResult({"": {"UNEVEN": both, "MQ2008": both, "DEMO": both, "OHSUMED-twin": both}})
    assert elsewhere(small().claims, found) == []
    (outcome,) = elsewhere(small(FACTS | {"general": True}).claims, found)
    where = (outcome.place, outcome.rows[0].place)
    assert (*where, outcome.answer) == ("MQ2008", "MQ2008", rules.AGREES)


def test_outcomes_of_parts_that_are_not_run_now_stay(context):
    more = small(FACTS, FACTS | {"id": "d", "part": "figure-2"})
    (part,) = more.parts.values()
    more = replace(more, parts={"figure-1": part, "figure-2": replace(part, name="figure-2")})
    before = reproduce(more, context, ["figure-2"])
    assert [o.claim.id for o in before.outcomes if o.answer == rules.NOT_RUN] == ["c"]
    assert [o.claim.id for o in reproduce(more, context, ["figure-1"]).outcomes] == ["c", "d"]
    both = small(), small(FACTS | {"upper": ["chance"], "lower": ["lines"]})
    (one,), (other,) = (reproduce(each, context, ["figure-1"]).outcomes for each in both)
    assert (one.rows[0].value > 0.0) != (other.rows[0].value > 0.0)  # the new takes its place


def test_the_command_prints_what_came_out(tmp_path):
    where = ["--out", str(tmp_path), "--data-dir", str(tmp_path), "--pages", str(tmp_path / "p")]
    shown = printed("reproduce", "lecture-2018", *where)
    assert re.search(r"distance-f-g +none +slip +0.46 +0.4674 +slip: in nats", shown)
    assert re.search(r"distance-g-h +none +slip +2.56 +2.558 +slip: in bits", shown)
    assert "paper         claims  agrees  slip\nlecture-2018  3       1       2\n" in shown
    page = (tmp_path / "p" / "lecture-2018.md").read_text()
    assert "of the lists f and g is 0.46" in page and "### Not run" not in page
    files = {Path(name) for name in re.findall("^(?:file|page)  (.+)$", shown, re.MULTILINE)}
    beside = ("answers.png", "claims.csv", "comparisons.csv", "specifications.csv", "lists.png",
              "pipeline.png")  # fmt: skip
    files |= {tmp_path / "p" / f"lecture-2018-{name}" for name in beside}
    assert files == {path for path in tmp_path.rglob("*") if path.is_file()}
    words = "reproduce", "lecture-2018", "--part", "figure-9"
    assert refused(2, *words, *where) == (
        "letorbench: error: unknown part of lecture-2018 'figure-9'; expected one of examples, "
        "lists, pipeline\n"
    )
    # damage is reported before anything is run
    outcomes = tmp_path / "papers" / "lecture-2018" / "outcomes.json"
    whole = outcomes.read_bytes()
    outcomes.write_bytes(whole.replace(b"0", b"1", 1))
    assert refused(1, *words[:2], *where).startswith(f"letorbench: error: {outcomes}: damaged: ")
    outcomes.unlink()
    printed(*words[:2], "--part", "examples", *where)
    assert outcomes.read_bytes() == whole


def test_claims_on_other_data_and_the_page_of_all_papers_are_printed(context, monkeypatch):
    write_toy(context.data_dir, "MQ2008")
    theory = {"id": "t", "nature": "theory", "test": [
        {"kind": "equal", "number": "lines", "printed": 0.5},
        {"kind": "at least", "number": "chance", "printed": 0.1}]}  # fmt: skip
    facts = [FACTS | theory, FACTS | {"general": True}, FACTS | {"id": "d", "measures": ["ndcg@1"]}]
    made = small(*facts, other_data=("MQ2008",))
    monkeypatch.setattr(papers, "PAPERS", {"small": ""})
    monkeypatch.setattr(papers, "paper", lambda name: made)
    pages = context.data_dir.parent / "pages"
    shown = printed("reproduce", "all", "--pages", str(pages), *places(pages.parent))
    as_shown("command-on-other-data.txt", shown.replace(f"{pages.parent}/", ""))


def test_a_page_says_what_code_and_data_it_is_from(context, monkeypatch):
    made_by = paper_page.origin(small(), context)
    digest = context.benchmark("UNEVEN").provenance["digest"]
    assert re.fullmatch(rf"From code `[0-9a-f]{{16}}`; UNEVEN `{digest[:16]}`.", made_by)
    others = replace(small(), methods={"a": Method("a", "ranknet")})
    code = {paper_page.code_digest(each) for each in ([small()], [others], [small(), others],
            [replace(small(), folder="functionals")])}  # fmt: skip
    monkeypatch.setattr(paper_page, "MAKING", ("rules",))
    assert len(code | {paper_page.code_digest([small()])}) == 5


def test_the_papers_own_setting_has_its_own_methods_protocol_and_folder(context):
    lines = Method("lines", "wpl", {"l2": 1.0, "weight": "1/pi"}, {"l2": 9.0, "weight": "sqrt(r)"})
    made = replace(
        small(published={"by MAP": ("map", "letor")}), differs=("ours",),
        published_differs=("theirs",), methods={**small().methods, "lines": lines},
    )  # fmt: skip
    absent = "Figure 1: without OHSUMED, not at hand"
    for setting, line, ways in (
        ("default", "ours", {"ndcg@10", "ndcg@10,l2=1.0,weight=1_pi"}),
        ("published", "theirs", {"map-letor", "map-letor,l2=9.0,weight=sqrt_r_"}),
    ):
        result = reproduce(made, replace(context, setting=setting))
        folder = context.out / "papers" / "small" / ("" if setting == "default" else setting)
        assert {path.parent for path in result.files} == {folder}
        assert (folder / "setting.txt").read_text() == (
            f"{made.reference}\n\nWhat differs from the paper's setting:\n- {line}\n- {absent}\n"
        )
        assert result.differs == (line, absent)
        assert {path.name for path in (context.out / "papers" / "runs").iterdir()} == ways
        shutil.rmtree(context.out / "papers" / "runs")


PLAIN = Method("Regression", "regression", {})
OWN = Method("NDCG Boost, 3 rounds", "ndcgboost", {"rounds": 3, "stumps": "sample"})
MEASURES = ("ndcg@1", "ndcg@3", "map")


@pytest.mark.filterwarnings("ignore:ties", "ignore:.*warnings in all")
def test_the_values_are_those_of_the_stored_scores(context):
    """Of each repeat, query and measure, by the convention that is asked for."""
    said: list[str] = []
    context = replace(context, seed=3, say=said.append)
    found = context.runs("UNEVEN", [PLAIN, OWN], MEASURES, "letor4", 2)
    assert list(found) == [PLAIN.label, OWN.label]
    assert said == [f"UNEVEN: {PLAIN.label}", f"UNEVEN: {OWN.label}"]
    own = lb.run("UNEVEN", {OWN.algo: lb.NDCGBoost(**OWN.settings)}, seed=3, repeats=2,
                 data_dir=context.data_dir, out=context.data_dir / "own", protocol="published",
                 select="ndcg@10")  # fmt: skip
    there = context.out / "papers" / "runs" / "ndcg@10,rounds=3,stumps=sample"
    for scores in (own.out / "UNEVEN").rglob("scores.txt"):
        assert (there / scores.relative_to(own.out)).read_bytes() == scores.read_bytes()
    tests = [fold.test for fold in context.benchmark("UNEVEN").folds]
    options = {"measures": [*MEASURES], "per_query": True, "convention": "letor4"}
    for values, method in zip(found.values(), (PLAIN, OWN)):
        files = sorted(context.out.rglob(f"{method.algo}/**/scores.txt"))
        repeats = [
            np.concatenate([lb.evaluate(test, np.loadtxt(path), **options)
                            for test, path in zip(tests, files[start:])])
            for start in range(0, len(files), 5)
        ]  # fmt: skip
        table = np.stack([*values.tables.values()], axis=-1)
        assert np.array_equal(table, repeats) and len(repeats) == 1 + (method is OWN)
        of_folds = np.split(np.mean(repeats, axis=0), np.flatnonzero(np.diff(values.folds)) + 1)
        assert [len(each) for each in of_folds] == [test.n_queries for test in tests]
        means = np.mean([each.mean(axis=0) for each in of_folds], axis=0)
        assert [values.mean(m) for m in MEASURES] == pytest.approx(means)


def test_a_method_with_a_fold_that_failed_has_no_values(context, monkeypatch):
    whole = runs.run_systems

    def with_failure(*args):
        report = whole(*args[:-1])
        assert args[-1] == runs.Processes(3, context.idle)
        failed = [
            replace(each, fold=None, error="no memory") if each.key.fold == 3 else each
            for each in report.runs
        ]
        return replace(report, runs=tuple(failed))

    said: list[str] = []
    context = replace(context, say=said.append, jobs=3)
    with monkeypatch.context() as patched:
        patched.setattr(runs, "run_systems", with_failure)
        assert context.runs("UNEVEN", [PLAIN], MEASURES) == {}
    assert said == ["UNEVEN: Regression", "UNEVEN, regression, fold 3: no memory"]
    assert list(replace(context, jobs=1).runs("UNEVEN", [PLAIN], MEASURES)) == [PLAIN.label]
