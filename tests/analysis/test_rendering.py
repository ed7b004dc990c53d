"""One table in every form: its marks, its digits, its escapes, its frame."""

from __future__ import annotations

import csv
import io

import pytest
from letorbench.analysis.rendering import FORMATS, render
from letorbench.analysis.tabular import (
    Cell,
    Column,
    Table,
    columns,
    data_table,
    to_frame,
)

TABLE = Table(
    "a caption",
    columns(["algorithm"], ["MAP", "p"]),
    (
        (Cell("x|y", "x|y"), Cell("0.5000", 0.50004, place=1, sign=1), Cell(".01", 0.01)),
        (Cell("b", "b"), Cell("0.4000", 0.4, place=2, sign=-1), Cell(".002", 0.002, starred=True)),
        (Cell("c", "c"), Cell(""), Cell("1", 1.0)),
    ),
    notes=("a note",),
    name="My set",
    ranked=True,
    against="b (t)",
)


def test_text_keeps_digits_in_one_column():
    assert render(TABLE, "text").splitlines() == [
        "a caption; * = best; + - = significantly better, worse than b (t)",
        "algorithm     MAP       p",
        "x|y        0.5000*+   .01",
        "b          0.4000-   .002*",
        "c                       1",
        "a note",
    ]


def test_markdown():
    assert render(TABLE, "markdown").splitlines() == [
        "a caption; bold = best, underlined = second; ↑ ↓ = significantly better, worse than b (t)",
        "",
        "| algorithm | MAP | p |",
        "| --- | ---: | ---: |",
        r"| x\|y | **0.5000**↑ | .01 |",
        r"| b | <u>0.4000</u>↓ | .002\* |",
        "| c |  | 1 |",
        "",
        "- a note",
    ]


def test_csv_has_the_values_and_nothing_else():
    assert list(csv.reader(io.StringIO(render(TABLE, "csv")))) == [
        ["algorithm", "MAP", "p"],
        ["x|y", "0.50004", "0.01"],
        ["b", "0.4", "0.002"],
        ["c", "", "1.0"],
    ]


def test_latex_says_what_the_marks_mean():
    text = render(TABLE, "latex")
    assert r"\label{tab:my-set}" in text and r"\begin{tabular}{lrr}" in text
    assert r"\caption{a caption. a note. Best in bold, second underlined. $^{\uparrow}$" in text
    assert r"\textbf{0.5000}$^{\uparrow}$" in text and "worse than b (t).}" in text
    plain = render(Table("plain", columns(["a"]), ((Cell("x"),),)), "latex")
    assert "Best" not in plain and "arrow" not in plain and "label" not in plain


def test_frame_has_the_values():
    frame = to_frame(TABLE)
    assert list(frame.columns) == ["algorithm", "MAP", "p"]
    assert frame["p"].tolist() == [0.01, 0.002, 1.0] and frame["MAP"].isna().tolist()[2]


@pytest.mark.parametrize("form", FORMATS)
def test_a_table_without_rows(form):
    assert "algo" in render(Table("", (Column("algo"),), ()), form)
    assert "algo" in render(data_table(["algo"], []), form)
