"""Tables of a data set's algorithms as text, CSV, Markdown or LaTeX, the best values marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from letorbench.analysis.cells import Cell, Marks, caption, cells, header, heads, label
from letorbench.analysis.latex import latex
from letorbench.results.summary import Summary

__all__ = ["FORMATS", "USUAL", "Marks", "caption", "label", "render"]

#: what a table shows unless told otherwise
USUAL = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")

Format = Callable[[Summary, Sequence[str], "Marks | None"], str]


def render(
    summary: Summary, measures: Sequence[str], form: str, marks: Marks | None = None
) -> str:
    """The table with its caption, numbers to four places, the best of each column marked."""
    return FORMATS[form](summary, measures, marks)


def _text(summary: Summary, measures: Sequence[str], marks: Marks | None) -> str:
    # a blank where the others have a sign keeps the digits in one column
    width = 1 if marks is None else 2
    rows = [
        [*heads(summary, row), *(_signed(cell).ljust(len(cell.text) + width) for cell in line)]
        for row, line in zip(summary.rows, cells(summary, measures, marks))
    ]
    first, *names = header(summary, measures)
    table = [[first, *(name + " " * width for name in names)], *rows]
    widths = [max(len(line[i]) for line in table) for i in range(len(table[0]))]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))])
        for line in table
    ]
    said = caption(summary) + "; * = best" + _explained(marks, "+", "-")
    return "\n".join([said, *(line.rstrip() for line in lines)]) + "\n"


def _signed(cell: Cell) -> str:
    star = "*" if cell.place == 1 else ""
    return f"{cell.text}{star}{['', '+', '-'][cell.sign]}"


def _csv(summary: Summary, measures: Sequence[str], marks: Marks | None) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    signs = [f"{m}-sign" for m in measures] if marks else []
    writer.writerow(["dataset", "algo", "convention", "folds", *measures, *signs])
    for row, line in zip(summary.rows, cells(summary, measures, marks)):
        values = [repr(row.values[m]) if m in row.values else "" for m in measures]
        found = [cell.sign for cell in line] if marks else []
        writer.writerow([summary.dataset, row.algo, row.convention, row.folds, *values, *found])
    return file.getvalue()


def _markdown(summary: Summary, measures: Sequence[str], marks: Marks | None) -> str:
    forms = ("{}", "**{}**", "<u>{}</u>")
    rows = [
        [
            *heads(summary, row),
            *(forms[c.place].format(c.text) + ["", "↑", "↓"][c.sign] for c in line),
        ]
        for row, line in zip(summary.rows, cells(summary, measures, marks))
    ]
    names = header(summary, measures)
    rule = ["---", *["---:"] * (len(names) - 1)]
    lines = ["| " + " | ".join(line) + " |" for line in [names, rule, *rows]]
    said = caption(summary) + "; bold = best, underlined = second" + _explained(marks, "↑", "↓")
    return "\n".join([said, "", *lines]) + "\n"


def _explained(marks: Marks | None, better: str, worse: str) -> str:
    if marks is None:
        return ""
    return f"; {better} {worse} = significantly better, worse than {marks.baseline} ({marks.note})"


FORMATS: dict[str, Format] = {
    "text": _text,
    "csv": _csv,
    "markdown": _markdown,
    "latex": latex,
}
