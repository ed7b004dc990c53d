"""LaTeX tables: a structural check of every one, and pdflatex where it is installed."""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from letorbench.analysis.results_table import Marks, render
from letorbench.escaping import latex as escape
from letorbench.results.summary import Row, Summary

SUMMARY = Summary(
    "MY_SET 100%",
    (
        Row("first", "letor3", 5, {"ndcg@1": 0.5, "map": 0.25}),
        Row("second_one", "letor3", 5, {"ndcg@1": 0.4, "map": 0.3}),
        Row("third", "letor3", 5, {"ndcg@1": 0.3}),
    ),
)
MEASURES = ("ndcg@1", "map")
MARKS = Marks(
    "third", "t test, p < .05, Holm", {("first", "ndcg@1"): 1, ("second_one", "ndcg@1"): -1}
)


def check(text: str) -> list[list[str]]:
    """The cells of a table that LaTeX can set; fails where it could not."""
    ends = [match[1] for match in re.finditer(r"\\(?:begin|end)\{(\w+)\}", text)]
    assert ends == ["table", "tabular", "tabular", "table"]
    without = re.sub(r"\\[\\{}%&#$_^~]", "", text)
    depth = 0
    for character in re.sub(r"^%.*$", "", without, flags=re.MULTILINE):
        depth += (character == "{") - (character == "}")
        assert depth >= 0
    assert depth == 0 and without.count("$") % 2 == 0
    columns = re.search(r"\\begin\{tabular\}\{([lr]+)\}", text)[1]
    order = [text.index(rule) for rule in (r"\toprule", r"\midrule", r"\bottomrule")]
    assert order == sorted(order)
    rows = [line[:-3] for line in text.splitlines() if line.endswith(r" \\")]
    split = [re.split(r"(?<!\\)&", row) for row in rows]
    assert all(len(cells) == len(columns) for cells in split)
    outside = re.sub(r"\$[^$]*\$", "", re.sub(r"\\label\{[^}]*\}|^%.*$", "", without, flags=re.M))
    assert not re.search(r"[_^#~%]", outside)
    return [[cell.strip() for cell in cells] for cells in split]


def test_best_second_and_marks():
    head, *rows = check(render(SUMMARY, MEASURES, "latex", MARKS))
    assert head == ["algorithm", "NDCG@1", "MAP"]
    up, down, none = r"$^{\uparrow}$", r"$^{\downarrow}$", r"\hphantom{$^{\uparrow}$}"
    assert rows == [
        ["first", rf"\textbf{{0.5000}}{up}", rf"\underline{{0.2500}}{none}"],
        [r"second\_one", rf"\underline{{0.4000}}{down}", rf"\textbf{{0.3000}}{none}"],
        ["third", rf"0.3000{none}", ""],
    ]
    plain = render(SUMMARY, MEASURES, "latex")
    check(plain)
    assert "arrow" not in plain and r"\caption{MY\_SET 100\%: mean over 5 folds" in plain


def test_rows_of_two_conventions_have_a_column_more():
    rows = (*SUMMARY.rows, Row("other", "standard", 5, {"ndcg@1": 0.9}))
    head, *lines = check(render(Summary("S", rows), MEASURES, "latex"))
    assert head[1] == "convention" and not any("textbf" in cell for line in lines for cell in line)


@pytest.mark.parametrize("text", ["a_b", "50%", "a&b", "{x}", "$1", "c:\\d", "x^2", "~", "#"])
def test_escapes(text):
    check(render(Summary(text, (Row(text, "letor3", 1, {"map": 0.1}),)), ["map"], "latex"))
    assert escape(text) != text


@pytest.mark.parametrize("marks", [None, MARKS])
def test_pdflatex_sets_it(tmp_path, marks):
    if shutil.which("pdflatex") is None:
        pytest.skip("pdflatex is not installed")
    body = render(SUMMARY, MEASURES, "latex", marks)
    (tmp_path / "t.tex").write_text(
        "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\n"
        + body
        + "\\end{document}\n"
    )
    command = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "t.tex"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-2000:]
