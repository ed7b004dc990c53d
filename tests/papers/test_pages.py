"""What a reader sees of outcomes: files, lines and pages, each compared as a whole with `shown`."""

import re
import tomllib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from conftest import same

from letorbench.papers import figures, paper, paper_page, records
from letorbench.papers.figures import Line, answers_figure
from letorbench.papers.paper import Part, PartResult, claims_of
from letorbench.papers.reproduction import Reproduction
from letorbench.papers.rules import Outcome, Verdict
from letorbench.papers.runs import Context, Method
from letorbench.results.per_query import PerQuery

SHOWN = Path(__file__).with_name("shown")
#: lines of a figure and of a page that are not compared
LEFT_OUT = {".png": ("fonts", "xlabel ''", "ylabel ''"), ".md": "|"}
FACTS = tomllib.loads((SHOWN / "small.toml").read_text())
SHARED = FACTS["shared"]
MADE = {c.id: c for c in claims_of("small", {"claim": [SHARED | c for c in FACTS["claim"]]}, {})}
OUTCOMES = [
    Outcome(**each | {"claim": MADE[each["claim"]], "rows": tuple(
        Verdict(**row) for row in each.get("rows", ())),
        "points": tuple(map(tuple, each.get("points", ())))})
    for each in FACTS["outcome"]
]  # fmt: skip


@pytest.fixture
def result(tmp_path):
    parts = [Part("figure-1", "Figure 1", "curves", takes="1 min"),
             Part("table-2", "Table 2", "table", takes="5 min"),
             Part("theory", "Theory", takes="2 s")]  # fmt: skip
    made = replace(
        paper("lecture-2018"), name="small", title="Small", reference="A. Author: Small, 2009",
        claims=tuple(MADE.values()), parts={part.name: part for part in parts},
        methods={"l": Method("l", "regression")}, slips=("a slip",),
        summary="Lines lead by [lines] and by [lines, Z] on Z; [no: count]; [later] and [none, x].",
    )  # fmt: skip
    own, beside = (tuple(o for o in OUTCOMES if bool(o.place) == there) for there in (False, True))
    return Reproduction(made, own, beside, (tmp_path / "a.csv",), ("this", "and that"))


def of_number(each):
    """An estimate in words, with its ends where there is chance in it."""
    value, low, high = (f"{round(n, 9) + 0.0:.4g}" for n in (each.value, each.low, each.high))
    between = f" [{low}, {high}]" if low != high else ""
    return f"{value}{between}{'; ' * bool(each.note)}{each.note}"


def as_shown(name, shown):
    """Compare a text, files or what a part found with a file of `shown`, to six decimals."""
    text = shown if isinstance(shown, str) else ""
    if not text:
        found = shown if isinstance(shown, PartResult) else PartResult(files=shown)
        for path in (path for path in found.files if path.suffix in (".csv", ".png", ".md")):
            left = LEFT_OUT.get(path.suffix, "\n\n")  # a page's tables are in the CSV files
            lines = path.read_text().splitlines(keepends=True)
            text += f"== {path.name}\n" + "".join(x for x in lines if not x.startswith(left))
        zeros = [label for label, each in found.numbers.items() if of_number(each) == "0"]
        text += f"0: {', '.join(zeros)}\n" * bool(zeros)
        for label, each in found.numbers.items():
            text += f"{label}: {of_number(each)}\n" * (label not in zeros)
        text += "".join(f"- {line}\n" for line in found.differs)
    text = re.sub(r"-?\d\.\d+e-1\d", "0", text)  # what rounding leaves
    text = re.sub(r"\d+\.\d{8,}", lambda number: f"{float(number[0]):.6f}", text)
    same(SHOWN / name, (SHOWN / name).read_text(encoding="utf-8"), text)


def per_query(measures, values, folds):
    """Values of a method: (n_repeats, n_queries, n_measures)."""
    tables = dict(zip(measures, np.moveaxis(values, 2, 0)))
    return PerQuery("m", folds, np.arange(len(folds)).astype(str), tables)


def test_outcomes_are_written_as_tables_and_read_again(result, tmp_path):
    every = (*result.outcomes, *result.elsewhere)
    kept = {(each.claim.id, each.place): each for each in every}
    for path in records.write_outcomes(tmp_path, kept)[1:]:
        as_shown(path.name, path.read_text())
    assert records.read_outcomes(tmp_path, result.paper) == kept
    fewer = replace(result.paper, claims=result.paper.claims[1:])
    kept = {key: each for key, each in kept.items() if key[0] != "lines"}
    assert records.read_outcomes(tmp_path, fewer) == kept
    assert records.read_outcomes(tmp_path / "none", fewer) == {}


def test_what_the_command_prints(result, tmp_path):
    every = (*result.outcomes, *result.elsewhere)
    lines = [*records.lines(every), *records.notes(every), *records.closing(
        {"small": every}, [Path("papers/small")])]  # fmt: skip
    as_shown("command.txt", "\n".join(lines) + "\n")


def test_a_page_and_the_page_of_all(result, tmp_path):
    context = Context(tmp_path, tmp_path, setting="published")
    own, published = (context.folder("small", each) for each in ("default", "published"))
    published.mkdir(parents=True)
    for path in (own / "figure-1.png", own / "lines.png", published / "figure-1.png"):
        path.write_text(str(path.relative_to(tmp_path)))
    (own / "figure-1.csv").touch()
    table = ["a", "b"], [[1, 0.5], ["x", None]]
    records.write_section(own / "theory", "Theory", "What it comes to.", *table)
    records.write_section(own / "table-2", "Table 2", "Folded.", ["c"], [["z"]])
    records.write_outcomes(own, {(o.claim.id, o.place): o for o in OUTCOMES})
    pages = tmp_path / "pages"
    made_by = paper_page.origin(result.paper, context)
    page = paper_page.write_page(result, context, pages)
    as_shown("small.md", page.read_text().replace(made_by, "ORIGIN"))
    front = tmp_path / "pages.md"
    for before in (None, "# Mine\n\n<!-- answers -->\nold\n<!-- end of answers -->\nmore\n"):
        if before:
            front.write_text(before)
        assert paper_page.write_front([result], pages) == front
    code = re.compile("(?<=From code `)[0-9a-f]+")
    as_shown("front.md", code.sub("CODE", front.read_text()))
    drawn = {path.name for path in pages.glob("*answers.png")}
    assert drawn == {"answers.png", "small-answers.png"}
    as_shown("answers.txt", [pages / "small-answers.png"])
    assert {p.name: p.read_text() for p in pages.glob("*.png") if p.name not in drawn} == {
        "small-figure-1.png": "papers/small/figure-1.png",
        "small-lines.png": "papers/small/lines.png",
        "small-published-figure-1.png": "papers/small/published/figure-1.png",
    }
    assert {path.name: path.read_text() for path in own.glob("theory*.[ct]*")} == {
        "theory.csv": "a,b\n1,0.5\nx,\n", "theory.txt": "Theory\na  b\n1  0.5000\nx\n",
    }  # fmt: skip


def constant(part, *means):
    """Values of a part's measures that are these, in turn, for each of four queries."""
    table = np.tile(np.resize(means, len(part.measures)), (1, 4, 1))
    return per_query(part.measures, table, np.arange(4))


def test_letors_printed_baselines_have_a_panel_where_they_are_printed():
    """Of the paper's methods and at their cut-offs alone, as published.csv has them."""
    part = paper("ndcgboost-2009").parts["figure-1"]
    (panel,) = figures.letor_panel("TD2003", part)
    assert panel.title == "TD2003, as LETOR 3.0 printed it" and list(panel.cutoffs) == [1, 3, 10]
    assert panel.curves["frank"] == [0.300, 0.267, 0.269]
    assert set(panel.curves) == {"regression", "frank", "listnet", "ranksvm", "svmmap"}
    assert figures.letor_panel("OHSUMED", part) == figures.letor_panel("MQ2008", part) == []


@pytest.mark.parametrize("form", ["curves", "bars", "table"])
def test_a_part_is_shown_as_figure_and_table(form, tmp_path):
    """The figure is of the first protocol; the other one has a table of its own."""
    measures = ("map",) if form == "bars" else ("ndcg@1", "ndcg@2", "ndcg@3")
    part = Part("view", "View", form, ("A", "B"), methods=("l", "m", "c"), measures=measures)
    told = {"id": "c", "kind": "equal", "measures": ["ndcg@3"], "number": "c", "printed": 0.35}
    made = replace(
        paper("lecture-2018"), printed={"l ndcg@1": 0.41, "l ndcg@3": 0.45, "c ndcg@3": 0.39},
        claims=claims_of("p", {"claim": [SHARED | told]}, {}),
        methods={"l": Method("l", "regression", row="top", column="one" * (form != "bars")),
                 "m": Method("m", "mcl", row="top", column="two" * (form != "bars")),
                 "c": Method("c", "random", row="end", column="one" * (form == "table"))},
    )  # fmt: skip
    high, low, turned = (constant(part, *of) for of in ((0.4, 0.5), (0.3, 0.2), (0.1, 0.35)))
    values = {"x": {"A": {"l": high, "m": low, "c": turned}, "B": {"l": low, "c": high},
                    "C": {"l": turned, "c": low}, "D": {}},
              "y": {"A": {"l": turned, "m": high}}}  # fmt: skip
    as_shown(f"{form}.txt", figures.files(made, part, values, tmp_path))


def test_a_number_is_in_per_cent_of_the_printed_one_and_has_no_direction():
    """There is none of a bound of 0; worked examples are shown where there is nothing else."""
    found = Verdict("", "equal", "", "slope", "same direction, larger", 2.0, 1.8, 2.2, 1.25)
    for printed, bars in ((1.25, [(60.0, 44.0, 76.0, 0.0)]), (0.0, [])):
        outcome = replace(OUTCOMES[0], rows=(replace(found, printed=printed),))
        every = [line.verdict for line in paper_page.lines_of([outcome])]
        assert [(v.value, v.low, v.high, v.printed) for v in every] == [*map(pytest.approx, bars)]
        assert [v.answer for v in every] == ["larger"] * len(bars)
    (example,) = paper_page.lines_of([o for o in OUTCOMES if o.claim.id == "two"])
    assert example.verdict.value == pytest.approx(-1.96, abs=0.01)


def test_a_long_interval_ends_in_an_arrow(tmp_path):
    def line(claim, part, answer, *numbers):
        return Line(claim, part, Verdict(part, "above", "", "", answer, *numbers))

    rows = [line("short", "part", "agrees", 1.0, -1.0, 3.0, 2.0)] * 30
    rows += [line("long", "", "cannot tell", 400.0, float("-inf"), 900.0)]
    path = answers_figure({"": rows[:9], "a paper": rows[9:]}, tmp_path / "x" / "a.png")
    assert path.stat().st_size > 0
