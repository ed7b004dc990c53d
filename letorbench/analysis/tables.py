"""Tables of a data set's algorithms as text, CSV, Markdown or LaTeX, the best value marked."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence

from letorbench.analysis.aggregate import Row, Summary

#: what a table shows unless told otherwise
USUAL = ("ndcg@1", "ndcg@3", "ndcg@5", "ndcg@10", "map")

#: how each convention's numbers are described wherever they are printed
DESCRIPTIONS = {
    "letor3": "as the LETOR 3.0 tool computes them",
    "letor4": "as the LETOR 4.0 tool computes them (NDCG@k of a list shorter than k is 0)",
    "mslr": "as the MSLR tool computes them (NDCG@k of a list shorter than k is 0)",
    "standard": "by the textbook, discount 1/log2(1 + rank)",
}
ACRONYMS = ("ndcg", "map", "mrr", "err", "wta", "auc")


def caption(summary: Summary) -> str:
    """One line: the data set, what was averaged, and the convention of the numbers."""
    folds = sorted({row.folds for row in summary.rows})
    count = "-".join(str(n) for n in (folds[0], folds[-1])[: len(folds)]) if folds else "0"
    rules = "; ".join(
        f"measures {DESCRIPTIONS.get(name, name)} [{name}]" for name in summary.conventions
    )
    return f"{summary.dataset}: mean over {count} fold{'s' * (count != '1')}; {rules}"


def label(measure: str) -> str:
    """ndcg@10 -> NDCG@10, mean-ndcg -> Mean-NDCG."""
    name, at, cutoff = measure.partition("@")
    words = [w.upper() if w in ACRONYMS or len(w) == 1 else w.capitalize() for w in name.split("-")]
    return "-".join(words) + at + cutoff


def render(summary: Summary, measures: Sequence[str], form: str) -> str:
    """The table with its caption, numbers to four places, the best of each column marked."""
    return FORMATS[form](summary, measures)


def _cells(
    summary: Summary, measures: Sequence[str], best: Callable[[str], str]
) -> tuple[list[str], list[list[str]]]:
    """Header and rows of text; a convention column where the rows differ in it."""
    mixed = len(summary.conventions) > 1
    printed = {m: [_number(row, m) for row in summary.rows] for m in measures}
    # a best that the other conventions' rows cannot be compared with would mislead
    tops = {m: "" if mixed else max(column, default="") for m, column in printed.items()}
    rows = []
    for i, row in enumerate(summary.rows):
        values = [printed[m][i] for m in measures]
        marked = [best(v) if v and v == tops[m] else v for m, v in zip(measures, values)]
        rows.append([row.algo, *([row.convention] if mixed else []), *marked])
    return ["algorithm", *(["convention"] if mixed else []), *map(label, measures)], rows


def _number(row: Row, measure: str) -> str:
    return f"{row.values[measure]:.4f}" if measure in row.values else ""


def _text(summary: Summary, measures: Sequence[str]) -> str:
    header, rows = _cells(summary, measures, lambda value: value + "*")
    # a blank where the others have no star keeps the digits in one column
    rows = [[r[0], *(c if c.endswith("*") else c + " " for c in r[1:])] for r in rows]
    header = [header[0], *(name + " " for name in header[1:])]
    widths = [max(len(line[i]) for line in [header, *rows]) for i in range(len(header))]
    lines = [
        "  ".join([line[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(line[1:], widths[1:]))])
        for line in [header, *rows]
    ]
    return "\n".join([caption(summary) + "; * = best", *(line.rstrip() for line in lines)]) + "\n"


def _csv(summary: Summary, measures: Sequence[str]) -> str:
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(["dataset", "algo", "convention", "folds", *measures])
    for row in summary.rows:
        values = [repr(row.values[m]) if m in row.values else "" for m in measures]
        writer.writerow([summary.dataset, row.algo, row.convention, row.folds, *values])
    return file.getvalue()


def _markdown(summary: Summary, measures: Sequence[str]) -> str:
    header, rows = _cells(summary, measures, lambda value: f"**{value}**")
    rule = ["---", *["---:"] * (len(header) - 1)]
    lines = ["| " + " | ".join(line) + " |" for line in [header, rule, *rows]]
    return "\n".join([caption(summary) + "; bold = best", "", *lines]) + "\n"


def _latex(summary: Summary, measures: Sequence[str]) -> str:
    header, rows = _cells(summary, measures, lambda value: rf"\textbf{{{value}}}")
    lines = [" & ".join(_escape(cell) for cell in line) + r" \\" for line in [header, *rows]]
    body = [lines[0], r"\hline", *lines[1:]]
    return "\n".join(
        [
            r"\begin{table}",
            rf"\caption{{{_escape(caption(summary))}.}}",
            rf"\begin{{tabular}}{{l{'r' * (len(header) - 1)}}}",
            *body,
            r"\end{tabular}",
            r"\end{table}",
        ]
    ) + "\n"  # fmt: skip


def _escape(text: str) -> str:
    for character in "_%&#":
        text = text.replace(character, "\\" + character)
    return text


FORMATS: dict[str, Callable[[Summary, Sequence[str]], str]] = {
    "text": _text,
    "csv": _csv,
    "markdown": _markdown,
    "latex": _latex,
}
