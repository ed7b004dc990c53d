"""HTML of single things: tables that sort, lists of facts, folded parts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape


@dataclass(frozen=True)
class Td:
    """A cell: its text, what it sorts by where that is another, and its classes."""

    text: str
    value: float | None = None
    classes: str = ""


def table(
    caption: str, head: Sequence[str], rows: Iterable[Sequence[str | Td]], n_text: int = 1
) -> str:
    """A table whose heads are buttons that sort it; the first `n_text` columns are text.

    It scrolls in a region of its own where the screen is narrow, also with the keyboard.
    """
    heads = "".join(_head(name, i < n_text) for i, name in enumerate(head))
    body = "\n".join(
        "<tr>" + "".join(_cell(cell, i, n_text) for i, cell in enumerate(row)) + "</tr>"
        for row in rows
    )
    name = escape(caption)
    return (
        f'<p class="note">{name}</p>\n'
        f'<div class="wide" role="region" tabindex="0" aria-label="{name}">\n'
        f'<table aria-label="{name}">\n<thead><tr>{heads}</tr></thead>\n'
        f"<tbody>\n{body}\n</tbody></table></div>"
    )


def facts(rows: Iterable[tuple[str, str]]) -> str:
    """A list of names and what they are; a web address becomes a link."""
    items = "\n".join(f"<dt>{escape(name)}</dt><dd>{_linked(text)}</dd>" for name, text in rows)
    return f"<dl>\n{items}\n</dl>"


def folded(title: str, body: str) -> str:
    return f"<details><summary>{escape(title)}</summary>\n{body}\n</details>"


def paragraph(text: str, classes: str = "") -> str:
    return f'<p class="{classes}">{escape(text)}</p>' if classes else f"<p>{escape(text)}</p>"


def figure(title: str, picture: str, classes: str = "card") -> str:
    return (
        f'<figure class="{classes}"><figcaption><h4>{escape(title)}</h4></figcaption>\n'
        f"{picture}</figure>"
    )


def _head(name: str, text: bool) -> str:
    order = "ascending" if text else "descending"
    return (
        f'<th scope="col" class="{"" if text else "n"}" data-first="{order}">'
        f'<button type="button">{escape(name)}</button></th>'
    )


def _cell(cell: str | Td, i: int, n_text: int) -> str:
    cell = cell if isinstance(cell, Td) else Td(cell)
    value = "" if cell.value is None else f' data-value="{cell.value!r}"'
    if i == 0:
        return f'<th scope="row"{value}>{escape(cell.text)}</th>'
    classes = " ".join(part for part in ("" if i < n_text else "n", cell.classes) if part)
    return f'<td class="{classes}"{value}>{escape(cell.text)}</td>'


def _linked(text: str) -> str:
    words = [
        f'<a href="{escape(word)}">{escape(word)}</a>'
        if word.startswith(("https://", "http://"))
        else escape(word)
        for word in text.split(" ")
    ]
    return " ".join(words)
