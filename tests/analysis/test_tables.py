"""Tables in every form: marks, digits, escapes; and the table of a data set's results."""

import re
from pathlib import Path

import pytest
from conftest import same
from toy_data import sample_row

from letorbench.analysis.published import DATASETS, lookup, published
from letorbench.analysis.results_table import Marks, comparable, row_names, summary_table
from letorbench.analysis.tables import (
    FORMATS,
    Cell,
    Column,
    Table,
    data_table,
    render,
    spread,
    text_table,
    to_frame,
)
from letorbench.results.dataset_results import DatasetResults


def test_programs_and_people_see_their_own_columns():
    table = Table("t", (Column("seen"), Column("both", name="both"), Column(name="stored")),
                  ((Cell("1"), Cell("2", 2), Cell("", 3)),))  # fmt: skip
    other = Table("o", (Column(name="more"), Column(name="both")), ((Cell("", 4), Cell("", 5)),))
    assert render([table, other], "csv") == "both,stored,more\n2,3,\n5,,4\n"
    assert list(to_frame(table).columns) == ["both", "stored"]
    assert render(table, "text").splitlines()[1:] == ["seen  both", "   1     2"]
    for form in ("html", *FORMATS):
        assert "algo" in render(data_table(["algo"], []), "csv")
        assert "nothing" in render(Table("nothing"), form) or form == "csv"


def test_where_no_value_is_known_no_deviation_is_printed():
    assert [spread(value) for value in (None, float("nan"), 0.5)] == ["", "", "±.5000"]


def test_a_row_of_latex_does_not_begin_with_an_option_of_the_command_before_it():
    made = render(text_table(["a", "b"], [("[x] y", "1"), ("*", "[2]"), ("z", "*")]), "latex")
    rows = made.partition("midrule\n")[2].splitlines()[:3]
    assert rows == [r"{}[x] y & 1 \\", r"{}* & [2] \\", r"z & * \\"]


FRAME = DatasetResults(
    "MY_SET 100%",
    (
        sample_row("first", {"ndcg@1": 0.50004, "map": 0.25}),
        sample_row("second_one", {"ndcg@1": 0.49996, "map": 0.1}),
        sample_row("third", {"ndcg@1": 0.4}),
    ),
)
MEASURES = ("ndcg@1", "map")
MARKS = Marks("third", "t, p < .05", {("first", "ndcg@1"): 1, ("second_one", "map"): -1})


def shown(frame: DatasetResults, form: str = "text", measures=("map",), marks: Marks | None = None):
    return render(summary_table(frame, measures, marks), form)


def test_marks_against_a_baseline_in_every_form():
    """Printed numbers that are equal share a place."""
    latex = shown(FRAME, "latex", MEASURES, MARKS).splitlines()
    head, *rows = (line[:-3].split(" & ") for line in latex if line.endswith(r" \\"))
    up, down, none = r"$^{\uparrow}$", r"$^{\downarrow}$", r"\hphantom{$^{\uparrow}$}"
    assert head == ["algorithm", "NDCG@1", "MAP"] and rows == [
        ["first", rf"\textbf{{0.5000}}{up}", rf"\textbf{{0.2500}}{none}"],
        [r"second\_one", rf"\textbf{{0.5000}}{none}", rf"\underline{{0.1000}}{down}"],
        ["third", rf"\underline{{0.4000}}{none}", ""],
    ]
    cells = re.findall(r'<td class="n (\w+)"[^>]*>([\d.]+)', shown(FRAME, "html", MEASURES, MARKS))
    places = "first 0.5000 first 0.2500 first 0.5000 second 0.1000 second 0.4000"
    assert " ".join(f"{place} {text}" for place, text in cells) == places
    head, first, *_, last = shown(FRAME, "csv", MEASURES, MARKS).splitlines()
    assert head == ("dataset,algo,convention,folds,repeats,cut_off,not_converged,ndcg@1,map,"
                    "ndcg@1-sign,map-sign")  # fmt: skip
    assert first == "MY_SET 100%,first,letor3,5,1,0,0,0.50004,0.25,1,0"
    assert last.endswith(",0.4,,0,0")


def test_what_all_rows_share_stands_once_and_long_names_have_a_key():
    long = "ndcgboost[rounds=20,stumps=sample,sample=0.123456,truncation=10,select=map]"
    names = row_names([long, "listnet[select=map,convention=letor3]", "mine", "x[y"])
    assert names.shared == [] and names.key == [f"ndcgboost [1]: {long}"]
    assert names.of == {long: "ndcgboost [1]", **{n: n for n in list(names.of)[1:]}}
    assert row_names(["mart[select=map]"]).of == {"mart[select=map]": "mart[select=map]"}
    rows = [f"{name}[{own}select=map,convention=letor3]" for name, own in
            (("mart", ""), ("listnet", "top=2,"), ("ideal", ""))]  # fmt: skip
    assert list(row_names(rows).of.values()) == ["mart", "listnet[top=2]", "ideal"]
    frame = DatasetResults("S", tuple(sample_row(name, {"map": 0.5}) for name in rows))
    text = shown(frame)
    assert text.splitlines()[0].count("; every row with select=map;") == 1
    assert "convention=letor3" not in text and text.count("select=map") == 1
    lines = [line.split()[0] for line in text.splitlines()]
    assert lines[2:] == ["mart", "listnet[top=2]", "ideal", "ideal:"]
    assert [row.algo for row in comparable(frame)] == rows[:2]
    assert to_frame(summary_table(frame, ["map"]))["algo"].tolist() == rows


@pytest.mark.parametrize("form", ["html", *FORMATS])
def test_rows_of_different_conventions_are_not_ranked(form):
    rows = tuple(sample_row(name, {"map": 0.5}, 5, name) for name in ("letor3", "standard"))
    text = shown(DatasetResults("S", rows), form)
    assert not re.search(r"0\.5000\*|\*\*0\.5|textbf|n first", text)
    assert text.count("standard") >= 2


NAMED = Path(__file__).with_name("published.txt")


def test_what_the_printed_names_are_called_here():
    sets = dict.fromkeys((row.source, row.dataset) for row in published())
    said = [f"{source}: {name} = {DATASETS.get(name, name)}" for source, name in sets]
    methods = dict.fromkeys((row.source, row.algorithm, row.ours) for row in published())
    said += [f"{source}: {name} = {ours}" for source, name, ours in methods if ours]
    same(NAMED, NAMED.read_text(), "".join(f"{line}\n" for line in said))


def test_lookup():
    """LightGBM's numbers of WEB30K are of its first fold alone."""
    rows = [row for row in lookup("mq2007", "MAP") if row.ours == "listnet"]
    assert [row.printed for row in rows] == ["0.465", "0.4652"]
    assert {row.source for row in lookup("MSLR-WEB30K", "ndcg@10")} == {"lgrz-ltr-baseline"}
    for wrong in ("TD2003/Feature-min", "TD2003-twin", "MINE"):
        assert lookup(wrong, "map") == ()
    assert lookup("TD2003", "ndcg@4") == ()


def test_a_text_table_is_aligned_by_columns_of_the_terminal() -> None:
    rows = [("検索", "1"), ("re\u0301sume\u0301", "2"), ("abcdef", "3")]
    lines = render(text_table(["name", "n"], rows), "text").splitlines()
    assert lines[1:] == ["検索    1", "re\u0301sume\u0301  2", "abcdef  3"]
