"""Tables in every form: marks, digits, escapes; and the table of a data set's results."""

import csv
import io
import re
from dataclasses import replace

import pytest
from toy_data import sample_row

from letorbench.analysis.results_table import Marks, fold_note, summary_table
from letorbench.analysis.tables import FORMATS, Cell, Column, Table, data_table, render, to_frame
from letorbench.results.dataset_results import DatasetResults


def test_programs_and_people_see_their_own_columns():
    table = Table("t", (Column("seen"), Column("both", name="both"), Column(name="stored")),
                  ((Cell("1"), Cell("2", 2), Cell("", 3)),))  # fmt: skip
    assert render([table, table], "csv") == "both,stored\n2,3\n2,3\n"
    assert list(to_frame(table).columns) == ["both", "stored"]
    assert render(table, "text").splitlines()[1:] == ["seen  both", "   1     2"]
    for form in FORMATS:
        assert "algo" in render(data_table(["algo"], []), "csv")
        assert "nothing" in render(Table("nothing"), form) or form == "csv"


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


def latex_cells(text: str) -> list[list[str]]:
    """The cells of a table that LaTeX can set; fails where it could not."""
    ends = [match[1] for match in re.finditer(r"\\(?:begin|end)\{(\w+)\}", text)]
    assert ends == ["table", "tabular", "tabular", "table"]
    without = re.sub(r"\\[\\{}%&#$_^~]", "", text)
    depth = 0
    for character in re.sub(r"^%.*$", "", without, flags=re.MULTILINE):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0 and without.count("$") % 2 == 0
    align = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
    rows = [line[:-3] for line in text.splitlines() if line.endswith(r" \\")]
    split = [re.split(r"(?<!\\)&", row) for row in rows]
    assert all(len(cells) == len(align) for cells in split)
    outside = re.sub(r"\$[^$]*\$", "", re.sub(r"\\label\{[^}]*\}|^%.*$", "", without, flags=re.M))
    assert not re.search(r"[_^#~%]", outside)
    return [[cell.strip() for cell in cells] for cells in split]


def test_a_caption_in_latex_reads_as_prose(rng):
    """Folds and seeds of different numbers, of unequal size: no back quote, no "1-5 folds"."""
    values = {"map": 0.5}
    frame = DatasetResults("S", tuple(sample_row(f"a{n}", values, n) for n in (1, 3, 5)))
    text = render(replace(summary_table(frame, ["map"]), notes=fold_note(0.02)), "latex")
    [caption] = [line for line in text.splitlines() if line.startswith("\\caption")]
    assert "`" not in caption and not re.search(r"\d-\d", caption)
    assert "mean over up to 5 folds" in caption and "by up to 0.0200" in caption


def test_marks_against_a_baseline_in_every_form():
    """Printed numbers that are equal share a place."""
    lines = shown(FRAME, "text", MEASURES, MARKS).splitlines()
    assert lines[1:] == [
        "algorithm   NDCG@1       MAP",
        "first       0.5000*+  0.2500*",
        "second_one  0.5000*   0.1000-",
        "third       0.4000",
    ]
    head, *rows = latex_cells(shown(FRAME, "latex", MEASURES, MARKS))
    up, down, none = r"$^{\uparrow}$", r"$^{\downarrow}$", r"\hphantom{$^{\uparrow}$}"
    assert head == ["algorithm", "NDCG@1", "MAP"] and rows == [
        ["first", rf"\textbf{{0.5000}}{up}", rf"\textbf{{0.2500}}{none}"],
        [r"second\_one", rf"\textbf{{0.5000}}{none}", rf"\underline{{0.1000}}{down}"],
        ["third", rf"\underline{{0.4000}}{none}", ""],
    ]
    cells = re.findall(r'<td class="n (\w+)"[^>]*>([\d.]+)', shown(FRAME, "html", MEASURES, MARKS))
    assert cells == [
        ("first", "0.5000"), ("first", "0.2500"), ("first", "0.5000"), ("second", "0.1000"),
        ("second", "0.4000"),
    ]  # fmt: skip
    head, first, *_, last = csv.reader(io.StringIO(shown(FRAME, "csv", MEASURES, MARKS)))
    assert head == ["dataset", "algo", "convention", "folds", "repeats", "cut_off", *MEASURES,
                    "ndcg@1-sign", "map-sign"]  # fmt: skip
    assert first == ["MY_SET 100%", "first", "letor3", "5", "1", "0", "0.50004", "0.25", "1", "0"]
    assert last[7] == ""


def test_latex_sets_any_name():
    text = "a_b 50% a&b {x} $1 c:\\d x^2 ~ #"
    latex_cells(shown(DatasetResults(text, (sample_row(text, {"map": 0.1}, 1),)), "latex"))


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_rows_of_different_conventions_are_not_ranked(form):
    rows = tuple(sample_row(name, {"map": 0.5}, 5, name) for name in ("letor3", "standard"))
    text = shown(DatasetResults("S", rows), form)
    assert not re.search(r"0\.5000\*|\*\*0\.5|textbf|n first", text)
    assert text.count("standard") >= 2
