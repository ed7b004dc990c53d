"""Tables: numbers, marks, captions."""

from __future__ import annotations

import csv
import io

import pytest
from letorbench.analysis.rendering import FORMATS
from stored_results import store_fold

from letorbench.analysis.results_table import Marks, caption, label, render
from letorbench.results.summary import Row, Summary, stored_summary
from letorbench.source import scoring_digest

SUMMARY = Summary(
    "OHSUMED",
    (
        Row("first", "letor3", 5, {"ndcg@1": 0.50004, "map": 0.25}),
        Row("second_one", "letor3", 5, {"ndcg@1": 0.49996, "map": 0.1}),
        Row("third", "letor3", 5, {"ndcg@1": 0.4}),
    ),
)
MEASURES = ("ndcg@1", "map")


def test_text():
    assert render(SUMMARY, MEASURES, "text").splitlines() == [
        "OHSUMED: mean over 5 folds; measures as the LETOR 3.0 tool computes them [letor3]; "
        "* = best",
        "algorithm   NDCG@1      MAP",
        "first       0.5000*  0.2500*",
        "second_one  0.5000*  0.1000",
        "third       0.4000",
    ]


def test_markdown_and_latex_mark_the_best_and_name_the_convention():
    markdown = render(SUMMARY, MEASURES, "markdown")
    assert "| second_one | **0.5000** | <u>0.1000</u> |" in markdown and "[letor3]" in markdown
    latex = render(SUMMARY, MEASURES, "latex")
    assert r"second\_one & \textbf{0.5000} & \underline{0.1000} \\" in latex and "[letor3]" in latex


def test_csv_keeps_every_digit():
    header, *lines = csv.reader(io.StringIO(render(SUMMARY, MEASURES, "csv")))
    heads = ["dataset", "algo", "convention", "folds", "repeats", "cut_off", "ndcg@1", "map"]
    assert header == heads
    assert lines[0] == ["OHSUMED", "first", "letor3", "5", "1", "0", "0.50004", "0.25"]
    assert lines[2][-1] == ""


@pytest.mark.parametrize("form", sorted(FORMATS))
def test_rows_of_different_conventions_are_not_compared(form):
    rows = tuple(Row(name, name, 5, {"map": 0.5}) for name in ("letor3", "standard"))
    text = render(Summary("S", rows), ["map"], form)
    assert "0.5000*" not in text and "**0.5" not in text and "textbf" not in text
    assert text.count("standard") >= 2


@pytest.mark.parametrize("name", ["letor3", "letor4", "mslr", "standard"])
def test_captions(name):
    assert f"[{name}]" in caption(Summary("S", (Row("a", name, 1, {}),)))
    assert "mean over 1 fold;" in caption(Summary("S", (Row("a", name, 1, {}),)))
    rows = (Row("a", name, 1, {}), Row("b", name, 5, {}))
    assert "mean over 1-5 folds" in caption(Summary("S", rows))


def test_labels():
    assert [label(m) for m in ("ndcg@10", "mean-ndcg", "p@5", "pairwise", "map")] == [
        "NDCG@10", "Mean-NDCG", "P@5", "Pairwise", "MAP",
    ]  # fmt: skip


def test_marks_against_a_baseline():
    marks = Marks("third", "t, p < .05", {("first", "ndcg@1"): 1, ("second_one", "map"): -1})
    assert render(SUMMARY, MEASURES, "text", marks).splitlines() == [
        "OHSUMED: mean over 5 folds; measures as the LETOR 3.0 tool computes them [letor3]; "
        "* = best; + - = significantly better, worse than third (t, p < .05)",
        "algorithm   NDCG@1       MAP",
        "first       0.5000*+  0.2500*",
        "second_one  0.5000*   0.1000-",
        "third       0.4000",
    ]
    markdown = render(SUMMARY, MEASURES, "markdown", marks)
    assert "| first | **0.5000**↑ | **0.2500** |" in markdown and "<u>0.1000</u>↓" in markdown
    header, first, *_ = csv.reader(io.StringIO(render(SUMMARY, MEASURES, "csv", marks)))
    assert header[-2:] == ["ndcg@1-sign", "map-sign"] and first[-2:] == ["1", "0"]


def test_what_a_time_limit_cut_off_says_so():
    rows = (Row("a", "letor3", 5, {"map": 0.5}, 5, cut_off=2), Row("b", "letor3", 5, {"map": 0.4}))
    text = render(Summary("S", rows), ["map"], "text")
    assert "a (cut off)" in text and "cut off by the time limit: a (2 of 5 folds);" in text
    rows = (Row("a", "letor3", 3, {"map": 0.5}, 5, cut_off=1), Row("b", "letor3", 5, {"map": 0.4}))
    text = render(Summary("S", rows), ["map"], "text")
    assert "a (3 of 5 folds, cut off)" in text and "partial: a" in text


def test_what_other_code_made_says_so(tmp_path):
    """Where its folds are those of this code, nothing is said."""
    module = "letorbench.rankers.regression"
    code = scoring_digest(module)
    store_fold(
        tmp_path, "S", "new", 1, {"map": 0.5}, n_folds=1, code=code, module=module, letorbench="1.0"
    )
    store_fold(
        tmp_path,
        "S",
        "old",
        1,
        {"map": 0.4},
        n_folds=1,
        code="12345678ab",
        module=module,
        letorbench="0.9",
    )
    lines = render(stored_summary(tmp_path, "S"), ["map"], "text").splitlines()
    assert lines[2].startswith("new  ") and lines[3].startswith("old (other code)  ")
    assert lines[4:] == [
        "other code: old (letorbench 0.9, code 12345678); a new run renews them, and may find "
        "other numbers"
    ]
