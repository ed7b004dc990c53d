"""Tables: one value of columns and cells, printed as text, CSV, Markdown, LaTeX or HTML."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import compress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from letorbench import escaping
from letorbench.files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

#: the value of a cell
Value = str | int | float | None
#: what a table shows where there is no value
DASH = "–"
ARROWS = {0: "", 1: "↑", -1: "↓"}
#: LaTeX's arrows; an arrow that is not there takes its space, so that the digits stay in line
LATEX_ARROWS = {1: r"$^{\uparrow}$", -1: r"$^{\downarrow}$", 0: r"\hphantom{$^{\uparrow}$}"}

#: where a row begins with what LaTeX would read as an option of the command before it
_OPTION = re.compile(r"^(?=[\[*])")


@dataclass(frozen=True)
class Cell:
    """The text that people read, and the value with all digits, for CSV and for sorting."""

    text: str
    value: Value = None
    #: 1 where the number is the best of its column, 2 where it is the second best, else 0
    place: int = 0
    #: +1 or -1 where the number is significantly better or worse than the baseline's
    sign: int = 0
    #: whether the cell is significant by the rule that the table's caption states
    starred: bool = False
    #: the number's standard deviation over seeds; "" where there is none
    spread: str = ""


@dataclass(frozen=True)
class Column:
    """A column's heading for people, its alignment, and its name in CSV.

    A column with a name alone is for programs; one without a name is for people.
    """

    heading: str = ""
    align: Literal["left", "right"] = "right"
    name: str = ""
    #: how people read a plain value, such as ".4f"
    form: str = ""

    def cell(self, value: Cell | Value) -> Cell:
        """The cell of a plain value: empty for None, a dash for NaN."""
        if isinstance(value, Cell):
            return value
        if value is None or self.name and not self.heading:
            return Cell("", value)
        return Cell(format(value, self.form) if value == value else DASH, value)


DATASET = Column(name="dataset")
ALGORITHM, AGAINST = Column("algorithm", "left", "algo"), Column("against", "left", "against")


def for_programs(*names: str) -> tuple[Column, ...]:
    """Columns that people do not see."""
    return tuple(Column(name=name) for name in names)


@dataclass(frozen=True)
class Table:
    """Columns and rows with a one-line caption above and notes below."""

    caption: str
    #: every row has one cell for each column
    columns: tuple[Column, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    notes: tuple[str, ...] = ()
    #: what LaTeX refers to the table by; "" for none
    name: str = ""
    #: whether the best and second best of columns are marked
    ranked: bool = False
    #: the baseline of the cells' signs and how they were tested; "" where there are none
    against: str = ""
    #: what the spreads mean; "" where there are none
    seeds: str = ""

    def visible_columns(self) -> Table:
        """What people see; of a table without rows the caption and the notes."""
        if not self.rows:
            return Table(self.caption, notes=self.notes)
        shown = self.only(lambda column: bool(column.heading or not column.name))
        return replace(shown, rows=tuple(row for row in shown.rows if any(c.text for c in row)))

    def only(self, shown: Callable[[Column], bool]) -> Table:
        chosen = [shown(column) for column in self.columns]
        rows = tuple(tuple(compress(row, chosen)) for row in self.rows)
        return replace(self, columns=tuple(compress(self.columns, chosen)), rows=rows)

    def legend(self, ranked: str, against: str) -> str:
        """The caption and the meaning of the marks, in the words of a format."""
        parts = [self.caption, self.seeds, ranked * self.ranked]
        parts += [f"{against} {self.against}"] if self.against else []
        return "; ".join(filter(None, parts))


def columns(left: Iterable[str], right: Mapping[str, str] | None = None) -> tuple[Column, ...]:
    """Columns of text, then columns of numbers with their formats, named by their headings."""
    numbers = (right or {}).items()
    return (
        *(Column(name, "left", name) for name in left),
        *(Column(name, name=name, form=form) for name, form in numbers),
    )


def table(
    caption: str,
    columns: Iterable[Column],
    rows: Iterable[Iterable[Cell | Value]],
    notes: Iterable[str] = (),
) -> Table:
    """A table of rows of cells, or of plain values that their columns format."""
    heads = tuple(columns)
    shown = (tuple(c.cell(v) for c, v in zip(heads, row, strict=True)) for row in rows)
    return Table(caption, heads, tuple(shown), tuple(notes))


def text_table(
    headings: Sequence[str],
    rows: Iterable[Sequence[str]],
    caption: str = "",
    right: Iterable[int] = (),
) -> Table:
    """A table of plain texts; `right`: the numbers of the columns that are aligned to the right."""
    shown = (Column(name, "right" if i in right else "left") for i, name in enumerate(headings))
    return table(caption, shown, rows)


def data_table(names: Sequence[str], rows: Iterable[Sequence[Value]]) -> Table:
    """A table of plain values for programs."""
    return table("", for_programs(*names), rows)


def to_frame(table: Table) -> pd.DataFrame:
    """The data columns as a DataFrame."""
    import pandas as pd

    return pd.DataFrame(records(table), columns=[c.name for c in table.columns if c.name])


def records(table: Table) -> list[dict[str, Value]]:
    """The rows of the data columns, by the columns' names."""
    return [
        {column.name: cell.value for column, cell in zip(table.columns, row) if column.name}
        for row in table.rows
    ]


def write_table(
    stem: Path, title: str, header: Sequence[str], rows: Iterable[Sequence[Any]]
) -> tuple[Path, Path]:
    """Write stem.csv with all digits and stem.txt with four decimals."""
    made = text_table(header, [[four_decimals(cell) for cell in row] for row in rows], title)
    csv, text = (stem.with_name(f"{stem.name}.{form}") for form in ("csv", "txt"))
    for path, shown, form in ((csv, data_table(header, rows), "csv"), (text, made, "text")):
        with write_atomically(path) as file:
            file.write(render(shown, form))
    return csv, text


def spread(deviation: float | None) -> str:
    """A standard deviation as it is printed: ±.0012; "" for none and for NaN."""
    known = deviation is not None and deviation == deviation
    return f"±{deviation:.4f}".replace("±0.", "±.") if known else ""


def mean_cell(mean: float, deviation: float | None = None, form: str = ".4f") -> Cell:
    """A mean and its standard deviation."""
    return Cell(format(mean, form), mean, spread=spread(deviation))


def interval_cells(low: float, high: float, form: str = "+.4f") -> tuple[Cell, float]:
    """An interval for people, whose value is its lower end, and its upper end for programs."""
    return Cell(f"[{low:{form}}, {high:{form}}]", low), high


def p_cell(p: float, starred: bool = False) -> Cell:
    return Cell(probability(p), p, starred=starred)


def four_decimals(cell: Value) -> str:
    """The text of a value: floats with four decimals, nothing for None."""
    return "" if cell is None else f"{cell:.4f}" if isinstance(cell, float) else str(cell)


def probability(p: float) -> str:
    """A p-value to four places: .0123, <.0001, 1."""
    return "<.0001" if p < 0.00005 else f"{p:.4f}".removeprefix("0") if p < 1 else "1"


def render(tables: Table | Iterable[Table], form: str) -> str:
    """One or several tables in a format; in CSV they are one, with the columns of all."""
    every = [tables] if isinstance(tables, Table) else [*tables]
    if form == "csv":
        return _csv(every)
    return "\n".join(_FORMS[form](table.visible_columns()) for table in every)


def _text(table: Table) -> str:
    """Aligned columns; marks stand behind a number, so that the digits are aligned."""
    cells = zip(*table.rows) if table.rows else ((),) * len(table.columns)
    shown = map(_text_column, table.columns, cells)
    lines = ["  ".join(row).rstrip() for row in zip(*shown)]
    legend = table.legend("* = best", "+ - = significantly better, worse than")
    headed = any(column.heading for column in table.columns)
    lines = [*filter(None, [legend]), *lines[not headed :], *table.notes]
    return "".join(escaping.visible(line) + "\n" for line in lines)


def _text_column(column: Column, cells: Sequence[Cell]) -> list[str]:
    """The heading and the cells, padded to one width."""
    marks = ["*" * (c.place == 1 or c.starred) + {0: "", 1: "+", -1: "-"}[c.sign] for c in cells]
    spreads = [f" {c.spread}" if c.spread else "" for c in cells]
    behind, wide = (max(map(len, texts), default=0) for texts in (marks, spreads))
    texts = [
        escaping.visible(c.text) + mark.ljust(behind) + spread.ljust(wide) if c.text else ""
        for c, mark, spread in zip(cells, marks, spreads)
    ]
    right = column.align == "right"
    texts = [escaping.visible(column.heading) + " " * ((behind + wide) * right), *texts]
    width = max(map(_width, texts))
    blanks = [" " * (width - _width(text)) for text in texts]
    return [blank + text if right else text + blank for text, blank in zip(texts, blanks)]


def _width(text: str) -> int:
    """The columns of a terminal that a text takes: wide characters two, combining ones none."""
    if text.isascii():
        return len(text)
    none = sum(unicodedata.category(c) in ("Mn", "Me") for c in text)
    return len(text) + sum(unicodedata.east_asian_width(c) in "WF" for c in text) - none


def _csv(tables: Sequence[Table]) -> str:
    names = dict.fromkeys(column.name for table in tables for column in table.columns)
    names.pop("", None)
    rows = ([row.get(name) for name in names] for table in tables for row in records(table))
    return escaping.csv_table([[*names], *rows])


def _markdown(table: Table) -> str:
    legend = ("bold = best, underlined = second", "↑ ↓ = significantly better, worse than")
    parts = [escaping.markdown(table.legend(*legend))]
    if table.columns:
        rule = ["---" if column.align == "left" else "---:" for column in table.columns]
        rows = [[_markdown_cell(cell) for cell in row] for row in table.rows]
        heads = [escaping.markdown(column.heading) for column in table.columns]
        parts += ["", *("| " + " | ".join(row) + " |" for row in [heads, rule, *rows])]
    if table.notes:
        parts += ["", *(f"- {escaping.markdown(note)}" for note in table.notes)]
    return "\n".join(parts) + "\n"


def _markdown_cell(cell: Cell) -> str:
    text = escaping.markdown(cell.text)
    text = {0: "{}", 1: "**{}**", 2: "<u>{}</u>"}[cell.place].format(text)
    text += r"\*" * cell.starred + ARROWS[cell.sign]
    return text + (f" {cell.spread}" if cell.spread else "")


def _latex(table: Table) -> str:
    """A table environment; its preamble needs booktabs, as its first line says."""
    if not table.columns:
        return escaping.latex(table.caption) + "\n"
    caption = escaping.latex(". ".join(filter(None, [table.caption, table.seeds, *table.notes])))
    if table.ranked:
        caption += ". Best in bold, second underlined."
    if table.against:
        arrows = f"{LATEX_ARROWS[1]} {LATEX_ARROWS[-1]}"
        against = escaping.latex(table.against)
        caption += f" {arrows}: significantly better, worse than {against}."
    label = re.sub(r"[^a-z0-9]+", "-", table.name.lower()).strip("-")
    rows = [[_latex_cell(cell, bool(table.against)) for cell in row] for row in table.rows]
    lines = [
        r"% \usepackage{booktabs}",
        r"\begin{table}",
        r"\centering",
        rf"\caption{{{caption}}}",
        *([rf"\label{{tab:{label}}}"] if label else []),
        rf"\begin{{tabular}}{{{''.join(column.align[0] for column in table.columns)}}}",
        r"\toprule",
        " & ".join(escaping.latex(column.heading) for column in table.columns) + r" \\",
        r"\midrule",
        *(_OPTION.sub("{}", " & ".join(row)) + r" \\" for row in rows),
        r"\bottomrule",
        r"\end{tabular}",
        r"\end{table}",
    ]
    return "\n".join(lines) + "\n"


def _latex_cell(cell: Cell, signed: bool) -> str:
    if not cell.text:
        return ""
    form = {0: "{}", 1: r"\textbf{{{}}}", 2: r"\underline{{{}}}"}[cell.place]
    text = form.format(escaping.latex(cell.text)) + "$^{*}$" * cell.starred
    text += rf" {{\scriptsize {escaping.latex(cell.spread)}}}" if cell.spread else ""
    return text + (LATEX_ARROWS[cell.sign] if signed and isinstance(cell.value, float) else "")


def _html(table: Table) -> str:
    return escaping.templates().get_template("parts.html").module.table(table)  # type: ignore


_FORMS: Mapping[str, Callable[[Table], str]] = {
    "text": _text, "markdown": _markdown, "latex": _latex, "html": _html
}  # fmt: skip
#: the formats that commands print; HTML is a part of our pages, with buttons for their script
FORMATS = ("text", "csv", "markdown", "latex")
