"""HTML of single things: tables that sort, lists of facts, parts that unfold."""

from __future__ import annotations

from collections.abc import Iterable

from letorbench.analysis.rendering import OPEN
from letorbench.analysis.tabular import Cell, Column, Table
from letorbench.escaping import html as escape

#: the class of a column's best and second-best cell
PLACES = {0: "", 1: "first", 2: "second"}


def table(made: Table) -> str:
    """The table with buttons in its head that sort it; its caption above, its notes below.

    It scrolls in a region of its own where the screen is narrow, also with the keyboard.
    """
    legend = [made.seeds] if made.seeds else []
    legend += ["bold = best, underlined = second"] if made.ranked else []
    if made.against:
        legend.append(f"↑ ↓ = significantly better, worse than {made.against}")
    said = "; ".join([made.caption, *legend])
    heads = "".join(_head(column) for column in made.columns)
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, made.columns[i], i) for i, cell in enumerate(row)) + "</tr>"
        for row in made.rows
    )
    notes = "".join("\n" + paragraph(note, "note") for note in made.notes)
    return (
        f"{paragraph(said, 'note')}\n"
        f'<div class="wide" role="region" tabindex="0" aria-label="{escape(said)}">\n'
        f'<table aria-label="{escape(said)}">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>{notes}"
    )


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and what they are; a web address becomes a link."""
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in rows)
    return f"<dl>\n{items}\n</dl>"


def folded(title: str, body: str) -> str:
    """A part that a click on its title shows."""
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"


def paragraph(text: str, classes: str = "") -> str:
    return f'<p class="{classes}">{escape(text)}</p>' if classes else f"<p>{escape(text)}</p>"


def figure(title: str, picture: str, classes: str = "card") -> str:
    return (
        f'<figure class="{classes}"><figcaption><h4>{escape(title)}</h4></figcaption>\n'
        f"{picture}</figure>"
    )


def _head(column: Column) -> str:
    text = column.align == "left"
    order = "ascending" if text else "descending"
    return (
        f'<th scope="col" class="{"" if text else "n"}" data-first="{order}">'
        f'<button type="button">{escape(column.heading)}</button></th>'
    )


def _cell(cell: Cell, column: Column, i: int) -> str:
    """The first cell of a row heads it; a number sorts by its value, not by its text."""
    number = isinstance(cell.value, (int, float))
    value = f' data-value="{cell.value!r}"' if number else ""
    text = escape(cell.text) + "*" * cell.starred + {0: "", 1: "↑", -1: "↓"}[cell.sign]
    text += OPEN * cell.open + (f" <small>{escape(cell.spread)}</small>" if cell.spread else "")
    if i == 0:
        return f'<th scope="row"{value}>{text}</th>'
    names = ("n" if column.align == "right" else "", PLACES[cell.place])
    return f'<td class="{" ".join(filter(None, names))}"{value}>{text}</td>'


def _linked(text: str) -> str:
    words = [
        f'<a href="{escape(word)}">{escape(word)}</a>'
        if word.startswith(("https://", "http://"))
        else escape(word)
        for word in text.split(" ")
    ]
    return " ".join(words)
