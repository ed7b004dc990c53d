"""Foreign text in everything that is written: it is shown, and does nothing.

Every name, id and comment that comes from a file or a folder is given each of these texts.
"""

import ast
import csv
import io
import re
import shutil
from collections.abc import Iterable
from html.parser import HTMLParser
from pathlib import Path

import pytest
from conftest import printed
from toy_data import stored_run

import letorbench
from letorbench.analysis.tables import FORMATS, Cell, Column, Table, render
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.escaping import visible

FOREIGN = (
    "=cmd|' /C calc'!A0", "+1+cmd", "-1-cmd", "@SUM(A1)", " =1+1", "\t=1+1", "\r=1+1",
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'><b>", "&amp;", "]]>",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\nb", "a\bb", "\x00", "\x7f",
    "\u202eevil", "\u2066a\u2069", "\u200b", "\ufeffa", "\u2028", "\ud800",
    r"\input{/etc/passwd}", "a_b^c~d", "$x$", "$\\frac$", "50%", "{", "}", "#1", "a & b", "a|b",
    "**a**", "[a](javascript:alert(1))", "a,b", 'a"b', "`a`", r"\|",
)  # fmt: skip
#: what marks text in Markdown and in LaTeX
MARKED = (
    "_a_", "__a__ b", "~~a~~", "[a]: b", "&copy;", "&#124;", "# a", "- a", "1. a", "> a", "a--b",
    "a\\",
)  # fmt: skip
CONTROL = {character for text in FOREIGN for character in text if not character.isprintable()}
#: a folder's name may hold all these but "/" and a zero byte; only what begins one acts alone
_ABLE = [text for text in FOREIGN if not {"/", "\0", "\ud800"} & set(text)]
NAMES = [text for text in _ABLE if text.lstrip()[:1] in tuple("=+-@<{")] + ["".join(_ABLE)]


def table(text: str) -> Table:
    """A table with the text in every place that a table has."""
    columns = (Column(text, "left", name=text), Column("map", name="map"))
    rows = ((Cell(text, text), Cell("-0.5", -0.5)),)
    return Table(text, columns, rows, (text,), text, True, text, text)


@pytest.mark.parametrize("form", [*FORMATS, "html"])
def test_no_form_of_a_table_holds_what_acts(form):
    lines = render(table("a"), form).count("\n")
    for text in (*FOREIGN, *MARKED):
        made = render(table(text), form)
        assert not set(made) & (CONTROL - {"\n"})
        assert made.count("\n") in (
            (lines, lines - 1) if form == "latex" else (lines,)
        )  # its label
        if form == "csv":
            head, row = csv.reader(io.StringIO(made))
            assert head[0].lstrip()[:1] not in tuple("=+-@") and row[0] == head[0]
            assert row in ([visible(text), "-0.5"], ["'" + visible(text), "-0.5"])
        if form == "markdown":
            assert "<script" not in made and "<img" not in made and "](" not in made
            plain = made.replace(r"\\", "").replace(r"\|", "")
            rows = [line for line in plain.split("\n") if line.startswith("| ")]
            assert [row.count("|") for row in rows] == [3, 3, 3]
        if form == "latex":
            assert not any(f"\\{name}" in made for name in ("input", "def", "write"))
            assert not re.search(r"\||--|(?<!\\)[#_]", made)
            rows = [line for line in made.split("\n") if line.endswith(r" \\")]
            assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [1, 1]


def test_a_reader_of_markdown_finds_every_text():
    markdown_it = pytest.importorskip("markdown_it", reason="needs markdown-it-py")
    reader = markdown_it.MarkdownIt().enable(["table", "strikethrough"])
    for text in {*FOREIGN, *MARKED} - {"`a`"}:  # code
        tokens = reader.parse(render(table(text), "markdown"))
        parts = [part for token in tokens for part in token.children or ()]
        assert {part.type for part in parts} <= {"text", "text_special", "html_inline"}
        read = ["".join(part.content for part in token.children or ()) for token in tokens]
        shown = " ".join(visible(text).split())
        cells = [" ".join(each.split()) for each in read if each]
        # the caption and its marks, the headings and the cells, the note
        assert cells[0].startswith(f"{shown}; {shown}") and cells[1:4] == [shown, "map", shown]
        assert cells[-1] == shown


@pytest.mark.parametrize("kind", [DataError, UsageError])
def test_an_error_is_one_line_that_does_nothing(kind):
    for text in FOREIGN:
        assert str(kind(f"{text}: found no file")).isprintable()
        assert str(WriteError(text, OSError(28, "No space left on device"))).isprintable()


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Path:
    return stored_run(tmp_path_factory.mktemp("foreign"))


def shown(stored: Path, folder: Path, names: Iterable[str], *words: str) -> str:
    """What a command prints of the stored results, beside which are algorithms of those names."""
    out = folder / "results"
    if not out.exists():
        shutil.copytree(stored, out)
        for name in names:
            shutil.copytree(out / "TOY/regression", out / "TOY" / name)
    text = printed(*words, "--out", str(out))
    assert not set(text) & (CONTROL - {"\n"})
    return text


def test_stored_algorithms_of_any_name_are_shown(stored, tmp_path):
    for words in (["table", "TOY"], ["compare", "TOY", "--baseline", "adarank-ndcg"]):
        for form in ("text", "csv", "markdown"):
            shown(stored, tmp_path, NAMES, *words, "--format", form)
    for path in tmp_path.glob("results/TOY/*.csv"):
        head, *rows = csv.reader(io.StringIO(path.read_text()))
        assert all(row[0].lstrip()[:1] not in tuple("=+-@") for row in rows)
        assert {len(row) for row in rows} == {len(head)}
    shown(stored, tmp_path, NAMES, "plot", "TOY")


class Elements(HTMLParser):
    """The elements and the attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def test_a_report_of_any_names_has_the_elements_of_a_plain_one(stored, tmp_path):
    elements = []
    plain = [f"n{i}".ljust(len(name), "n") for i, name in enumerate(NAMES)]  # long ones are cut
    for names in (plain, NAMES):
        page = tmp_path / f"{len(elements)}.html"
        shown(stored, tmp_path / page.stem, names, "report", "TOY", "--out-file", str(page))
        assert not set(page.read_text()) & (CONTROL - {"\n"})
        elements.append(sorted(Elements(page.read_text()).found))
    assert elements[0] == elements[1]


def test_one_function_prints_and_one_escapes():
    """`say` writes out what a terminal would obey, as a note on a lock; nothing else prints.

    Templates escape what they insert, and none of them says that it need not be.
    """
    folder = Path(letorbench.__file__).parent
    printing, escaping = set(), set()
    for file in folder.rglob("*.py"):
        text = file.read_text()
        if re.search(r"html import escape|import html\b|Markup\(|jinja2\.Environment", text):
            escaping.add(file.name)
        if any(
            isinstance(node, ast.Call) and ast.unparse(node.func) in ("click.echo", "print")
            for node in ast.walk(ast.parse(text))
        ):
            printing.add(str(file.relative_to(folder)))
    assert printing == {"cli/group.py", "files.py"} and escaping == {"escaping.py"}
    templates = "".join(file.read_text() for file in folder.glob("templates/*.html"))
    assert not re.search(r"\| *safe|autoescape", templates)
