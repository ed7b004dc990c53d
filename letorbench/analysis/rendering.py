"""Tables as text, CSV, Markdown and LaTeX: one function for each form."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType

from letorbench import escaping
from letorbench.analysis.tabular import Cell, Table

#: the mark of what other seeds could change
OPEN = "~"
#: LaTeX's arrows; an arrow that is not there takes its space, so that the digits stay in line
ARROWS = {1: r"$^{\uparrow}$", -1: r"$^{\downarrow}$", 0: r"\hphantom{$^{\uparrow}$}"}


def render(table: Table, form: str) -> str:
    """The table in a form of `FORMATS`: `text`, `csv`, `markdown` or `latex`.

    Examples
    --------
    >>> from letorbench.analysis.tabular import data_table
    >>> print(render(data_table(["algo", "map"], [["regression", 0.25]]), "csv"), end="")
    algo,map
    regression,0.25
    """
    return FORMATS[form](table)


def render_text(table: Table) -> str:
    """Aligned columns; marks follow a number, and blanks keep the digits in one column."""
    behind = _in_columns([[_text_mark(cell) for cell in row] for row in table.rows])
    spreads = _in_columns([[f" {c.spread}" if c.spread else "" for c in r] for r in table.rows])
    rows = [
        [escaping.visible(c.text) + m + s if c.text else "" for c, m, s in zip(row, marks, spread)]
        for row, marks, spread in zip(table.rows, behind, spreads)
    ]
    headings = list(map(escaping.visible, table.headings))
    heads = [
        name + " " * (len(mark) + len(spread)) if column.align == "right" else name
        for name, column, mark, spread in zip(
            headings, table.columns, _first(behind, table), _first(spreads, table)
        )
    ]
    caption = _caption(table, "* = best", "+ - = significantly better, worse than")
    lines = [*([caption] if caption else []), *aligned(table, heads, rows), *table.notes]
    return "\n".join(escaping.visible(line) for line in lines) + "\n"


def render_csv(table: Table) -> str:
    """The cells' values with every digit under the headings; no caption, no notes."""
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    rows: list[Sequence[object]] = [table.headings]
    rows += [[cell.value for cell in row] for row in table.rows]
    writer.writerows([escaping.csv(v) if isinstance(v, str) else v for v in row] for row in rows)
    return file.getvalue()


def render_markdown(table: Table) -> str:
    """A pipe table; the best in bold, the second best underlined."""
    rule = ["---" if column.align == "left" else "---:" for column in table.columns]
    rows = [[_markdown_cell(cell) for cell in row] for row in table.rows]
    heads = list(map(escaping.markdown, table.headings))
    lines = ["| " + " | ".join(row) + " |" for row in [heads, rule, *rows]]
    legend = ("bold = best, underlined = second", "↑ ↓ = significantly better, worse than")
    caption = escaping.markdown(_caption(table, *legend))
    notes = ["", *(f"- {escaping.markdown(note)}" for note in table.notes)] if table.notes else []
    return "\n".join([caption, "", *lines, *notes]) + "\n"


def render_latex(table: Table) -> str:
    """A table environment; its preamble needs booktabs, as its first line says."""
    said = [table.caption, *([table.seeds] if table.seeds else []), *table.notes]
    caption = escaping.latex(". ".join(said))
    if table.ranked:
        caption += ". Best in bold, second underlined."
    if table.against:
        better = f" {ARROWS[1]} {ARROWS[-1]}: significantly better, worse than "
        caption += f"{better}{escaping.latex(table.against)}."
    label = re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-")
    sides = "".join(column.align[0] for column in table.columns)
    rows = [[_latex_cell(cell, bool(table.against)) for cell in row] for row in table.rows]
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{caption}}}",
            *([rf"\label{{tab:{label}}}"] if label else []),
            rf"\begin{{tabular}}{{{sides}}}",
            r"\toprule",
            " & ".join(map(escaping.latex, table.headings)) + r" \\",
            r"\midrule",
            *(" & ".join(row) + r" \\" for row in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    ) + "\n"  # fmt: skip


#: the forms by name
FORMATS: Mapping[str, Callable[[Table], str]] = MappingProxyType(
    {
        "text": render_text,
        "csv": render_csv,
        "markdown": render_markdown,
        "latex": render_latex,
    }
)


def aligned(table: Table, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lines of the headings and rows, aligned as the table's columns are."""
    lines = [headings, *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(len(headings))]
    return [
        "  ".join(
            cell.ljust(width) if column.align == "left" else cell.rjust(width)
            for cell, width, column in zip(line, widths, table.columns)
        ).rstrip()
        for line in lines
    ]


def _in_columns(texts: Sequence[Sequence[str]]) -> list[list[str]]:
    """The texts of each column filled up with blanks to one width."""
    widths = [max(map(len, column)) for column in zip(*texts)]
    return [[text.ljust(width) for text, width in zip(row, widths)] for row in texts]


def _first(rows: Sequence[Sequence[str]], table: Table) -> Sequence[str]:
    """The first row; empty texts where there is none."""
    return rows[0] if rows else [""] * len(table.columns)


def _caption(table: Table, ranked: str, against: str) -> str:
    """The caption, then what the marks mean in the words of the form."""
    parts = [table.caption] if table.caption else []
    parts += [table.seeds] if table.seeds else []
    parts += [ranked] if table.ranked else []
    parts += [f"{against} {table.against}"] if table.against else []
    return "; ".join(parts)


def _text_mark(cell: Cell) -> str:
    star = "*" if cell.place == 1 or cell.starred else ""
    return star + {0: "", 1: "+", -1: "-"}[cell.sign] + OPEN * cell.open


def _markdown_cell(cell: Cell) -> str:
    text = escaping.markdown(cell.text)
    text = {0: "{}", 1: "**{}**", 2: "<u>{}</u>"}[cell.place].format(text)
    text += (r"\*" if cell.starred else "") + {0: "", 1: "↑", -1: "↓"}[cell.sign]
    return text + OPEN * cell.open + (f" {cell.spread}" if cell.spread else "")


def _latex_cell(cell: Cell, signed: bool) -> str:
    if not cell.text:
        return ""
    forms = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}
    number = isinstance(cell.value, float)
    text = forms[cell.place].format(escaping.latex(cell.text)) + ("$^{*}$" if cell.starred else "")
    text += "$^{\\sim}$" if cell.open else ""
    text += rf" {{\scriptsize {escaping.latex(cell.spread)}}}" if cell.spread else ""
    return text + (ARROWS[cell.sign] if signed and number else "")
