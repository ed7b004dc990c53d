r"""Foreign text made harmless: names, ids and comments that come from files and other people.

There is one function for each format. It keeps every character that can be read, and writes out
what would act instead, as `\x1b`. HTML is made from templates, which escape all that they insert.
"""

from __future__ import annotations

import csv as _csv
import io
import re
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment

#: the templates of pages
TEMPLATES = Path(__file__).with_name("templates")

#: what LaTeX would read as a command, set as another sign, or not set at all
_LATEX = {
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}",
    "<": "$<$", ">": "$>$", "±": r"$\pm$", "|": r"\textbar{}",
    **{character: "\\" + character for character in "_%&#${}"},
}  # fmt: skip
#: what ends a cell of a Markdown table, or begins HTML, a sign's name, a link or other type; at the
#: beginning also a title, a quotation or a list; code stays code
_MARKDOWN = re.compile(
    r"[\\*|~<]|(?<![^\W_])_|_(?![^\W_])|&(?=#?\w+;)|(?<=])[(:]|^(?:>(?!=)|(?:[#+-]+|\d+[.)])(?= ))"
)
#: what Markdown does not show: the sign of an escape, marks, HTML
_MARKS = re.compile(r"\\([!-/:-@[-`{-~])|[*`\\]|__|<[^>]*>")
#: what makes a spreadsheet compute a cell, also behind apostrophes that are part of the text
_FORMULA = re.compile(r"[\s']*[=+@-]")


def visible(text: str, keep: str = "") -> str:
    r"""The text with every character written out that a terminal would obey or hide, but `keep`.

    >>> print(visible("\x1b[31mred\u202e", keep="\n"))
    \x1b[31mred\u202e
    """
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() or c in keep else c.encode("unicode_escape").decode() for c in text
    )


@cache
def templates() -> Environment:
    """The environment of `TEMPLATES`: what goes into HTML is escaped, and made `visible`."""
    import jinja2

    @jinja2.pass_eval_context
    def finalize(context: jinja2.nodes.EvalContext, value: object) -> object:
        return visible(value) if context.autoescape and type(value) is str else value

    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=lambda name: str(name).endswith(".html"),
        finalize=finalize,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["anchor"] = _anchor
    return environment


def page(template: str, **values: object) -> str:
    """The text of a page."""
    return templates().get_template(template).render(values)


def _anchor(name: str) -> str:
    return "set-" + "".join(c if c.isalnum() else "-" for c in name.lower())


def latex(text: str) -> str:
    r"""The text in LaTeX.

    >>> print(latex("50 % of a_b"))
    50 \% of a\_b
    """
    shown = "".join(_LATEX.get(character, character) for character in visible(text))
    return re.sub("-(?=-)", "-{}", shown)  # no dash


def markdown(text: str) -> str:
    r"""The text as Markdown shows it in a line or in a cell of a table.

    >>> print(markdown("a|b <i>"))
    a\|b &lt;i>
    """

    def escaped(found: re.Match[str]) -> str:
        return {"<": "&lt;", "&": "&amp;"}.get(found[0]) or f"{found[0][:-1]}\\{found[0][-1]}"

    return _MARKDOWN.sub(escaped, visible(text))


def of_markdown(text: str) -> str:
    r"""The text that Markdown shows, without bold type and the like.

    >>> print(of_markdown(r"**a\|b**"))
    a|b
    """
    import html

    return html.unescape(_MARKS.sub(lambda mark: mark[1] or "", text))


def figure(text: str) -> str:
    r"""The text as Matplotlib draws it, without formulas in it.

    >>> print(figure("a$b$"))
    a\$b\$
    """
    return visible(text).replace("$", r"\$")


def csv(text: str) -> str:
    """The text as a cell that a spreadsheet shows and does not compute, as OWASP advises.

    >>> csv("=1+1"), csv("-0.5"), csv("regression")
    ("'=1+1", '-0.5', 'regression')
    """
    return formula_as_text(visible(text))


def titled_frame(title: str, frame: Any) -> str:
    """A DataFrame as HTML for a notebook, below its title in plain text."""
    import html

    return f"<p>{html.escape(visible(title))}</p>{frame.to_html(border=0)}"


def formula_as_text(text: str) -> str:
    """The same with all characters as they are, so that `of_csv` returns the text."""
    try:
        float(text)
    except ValueError:
        return "'" + text if _FORMULA.match(text) else text
    return text


def of_csv(cell: str) -> str:
    """The text that `formula_as_text` made a cell of."""
    return cell[1:] if cell.startswith("'") and _FORMULA.match(cell) else cell


def csv_table(rows: Iterable[Sequence[object]]) -> str:
    """Rows as the text of a CSV file; a float is written so that it reads back exactly, NaN not."""
    file = io.StringIO()
    writer = _csv.writer(file, lineterminator="\n")
    for row in rows:
        cells = [csv(cell) if isinstance(cell, str) else cell for cell in row]
        writer.writerow(["" if cell != cell else cell for cell in cells])
    return file.getvalue()
