"""A table in LaTeX with booktabs: best in bold, second underlined, significance as arrows."""

from __future__ import annotations

import re
from collections.abc import Sequence

from letorbench.analysis.cells import Cell, Marks, caption, cells, header, heads
from letorbench.results.summary import Summary

FORMS = ("{}", r"\textbf{{{}}}", r"\underline{{{}}}")
#: an arrow that is not there takes its room, so that the digits stay in line
ARROWS = (r"\hphantom{$^{\uparrow}$}", r"$^{\uparrow}$", r"$^{\downarrow}$")
ESCAPES = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": "$<$", ">": "$>$", **{character: "\\" + character for character in "_%&#${}"},
}  # fmt: skip


def latex(summary: Summary, measures: Sequence[str], marks: Marks | None) -> str:
    """A table environment; its preamble needs booktabs, as its first line says."""
    names = header(summary, measures)
    n_heads = len(names) - len(measures)
    rows = [
        [*map(escape, heads(summary, row)), *(_cell(cell, marks) for cell in line)]
        for row, line in zip(summary.rows, cells(summary, measures, marks))
    ]
    said = escape(caption(summary)) + ". Best in bold, second underlined."
    if marks:
        said += (
            rf" $^{{\uparrow}}$ $^{{\downarrow}}$: significantly better, worse than "
            rf"{escape(marks.baseline)} ({escape(marks.note)})."
        )
    return "\n".join(
        [
            r"% \usepackage{booktabs}",
            r"\begin{table}",
            r"\centering",
            rf"\caption{{{said}}}",
            rf"\label{{tab:{_key(summary.dataset)}}}",
            rf"\begin{{tabular}}{{{'l' * n_heads}{'r' * len(measures)}}}",
            r"\toprule",
            " & ".join(map(escape, names)) + r" \\",
            r"\midrule",
            *(" & ".join(line) + r" \\" for line in rows),
            r"\bottomrule",
            r"\end{tabular}",
            r"\end{table}",
        ]
    ) + "\n"  # fmt: skip


def escape(text: str) -> str:
    """The text with what LaTeX would read as a command escaped."""
    return "".join(ESCAPES.get(character, character) for character in text)


def _cell(cell: Cell, marks: Marks | None) -> str:
    if not cell.text:
        return ""
    return FORMS[cell.place].format(cell.text) + (ARROWS[cell.sign] if marks else "")


def _key(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
