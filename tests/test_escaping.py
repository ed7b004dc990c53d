"""Foreign text in everything that is written: it is shown, and does nothing.

Every name, id and comment that comes from a file or a folder is given each of these texts.
"""

from __future__ import annotations

import ast
import csv
import io
import shutil
from html.parser import HTMLParser
from pathlib import Path

import pytest
from click.testing import CliRunner
from stored_results import stored_run

import letorbench
from letorbench.analysis.tables import FORMATS, Cell, Column, Table, render
from letorbench.cli import cli
from letorbench.errors import DataError, UsageError, WriteError
from letorbench.escaping import visible

FOREIGN = (
    "=cmd|' /C calc'!A0", "+1+cmd", "-1-cmd", "@SUM(A1)", " =1+1", "\t=1+1", "\r=1+1",
    "<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "'><b>", "&amp;", "]]>",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "a\rb", "a\nb", "a\bb", "\x00", "\x7f",
    "\u202eevil", "\u2066a\u2069", "\u200b", "\ufeffa", "\u2028", "\ud800",
    r"\input{/etc/passwd}", "a_b^c~d", "$x$", "50%", "{", "}", "#1", "a & b", "a|b", "**a**",
    "[a](javascript:alert(1))", "a,b", 'a"b', "`a`", r"\|",
)  # fmt: skip
CONTROL = [character for text in FOREIGN for character in text if not character.isprintable()]


class Elements(HTMLParser):
    """The elements and the attributes of a page."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.found: list[tuple[str, tuple[str, ...]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, tuple(name for name, _ in attrs)))


def table(text: str) -> Table:
    """A table with the text in every place that a table has."""
    return Table(
        text, (Column(text, "left"), Column("map")), ((Cell(text, text), Cell("0.5", 0.5)),),
        (text,), text, True, text, text,
    )  # fmt: skip


@pytest.mark.parametrize("text", FOREIGN, ids=ascii)
@pytest.mark.parametrize("form", FORMATS)
def test_no_form_of_a_table_holds_what_acts(form: str, text: str) -> None:
    made = render(table(text), form)
    assert not set(made) & (set(CONTROL) - {"\n"})
    lines = render(table("a"), form).count("\n")
    assert made.count("\n") in ((lines, lines - 1) if form == "latex" else (lines,))  # its label
    if form == "csv":
        head, row = csv.reader(io.StringIO(made))
        assert head[0].lstrip()[:1] not in tuple("=+-@") and row[0] == head[0]
        assert row in ([visible(text), "0.5"], ["'" + visible(text), "0.5"])
    if form == "markdown":
        assert "<script" not in made and "<img" not in made and "](" not in made
        plain = made.replace(r"\\", "").replace(r"\|", "")
        lines = [line for line in plain.split("\n") if line.startswith("| ")]
        assert [line.count("|") for line in lines] == [3, 3, 3]
    if form == "latex":
        for name in ("input", "def", "write"):
            assert f"\\{name}" not in made


@pytest.mark.parametrize("text", FOREIGN, ids=ascii)
def test_numbers_stay_numbers_in_csv(text: str) -> None:
    made = Table("", (Column(text), Column("x")), ((Cell("-0.5", -0.5), Cell("1e-3", "-1e-3")),))
    assert list(csv.reader(io.StringIO(render(made, "csv"))))[1] == ["-0.5", "-1e-3"]


@pytest.mark.parametrize("kind", [DataError, UsageError])
@pytest.mark.parametrize("text", FOREIGN, ids=ascii)
def test_an_error_is_one_line_that_does_nothing(kind: type[Exception], text: str) -> None:
    assert str(kind(f"{text}: found no file")).isprintable()
    assert str(WriteError(text, OSError(28, "No space left on device"))).isprintable()


#: a folder's name may hold all these but "/" and a zero byte
NAMES = [t for t in FOREIGN if "/" not in t and "\0" not in t and "\ud800" not in t]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("foreign")
    stored_run(folder)
    return folder / "results"


def renamed(stored: Path, folder: Path, name: str) -> Path:
    """The stored results, in them an algorithm of that name."""
    shutil.copytree(stored, folder / "results")
    shutil.copytree(folder / "results/TOY/regression", folder / "results/TOY" / name)
    return folder / "results"


COMMANDS = (
    ("table", "TOY", "--format", "text"), ("table", "TOY", "--format", "csv"),
    ("table", "TOY", "--format", "markdown"), ("table", "TOY", "--format", "latex"),
    ("compare", "TOY", "--baseline", "adarank-ndcg"),
    ("compare", "TOY", "--baseline", "adarank-ndcg", "--format", "csv"),
    ("compare", "TOY", "--baseline", "adarank-ndcg", "--format", "markdown"),
)  # fmt: skip


@pytest.mark.parametrize("name", NAMES, ids=ascii)
def test_a_stored_algorithm_of_any_name_is_shown(name: str, stored: Path, tmp_path: Path) -> None:
    out = renamed(stored, tmp_path, name)
    for words in COMMANDS:
        shown = CliRunner().invoke(cli, [*words, "--out", str(out)])
        assert shown.exit_code == 0, (words, shown.output)
        assert not set(shown.output) & (set(CONTROL) - {"\n"})
    for path in out.glob("TOY/*.csv"):
        for row in csv.reader(io.StringIO(path.read_text())):
            assert row[0].lstrip()[:1] not in tuple("=+-@")
            assert len(row) == len(path.read_text().split("\n")[0].split(","))


def test_a_report_of_any_names_has_the_elements_of_a_plain_one(
    stored: Path, tmp_path: Path
) -> None:
    pages = []
    for number, names in enumerate((["n" + str(i) for i in range(len(NAMES))], NAMES)):
        place = tmp_path / str(number)
        shutil.copytree(stored, place / "results")
        for name in names:
            shutil.copytree(place / "results/TOY/regression", place / "results/TOY" / name)
        page = place / "report.html"
        words = ["report", "TOY", "--out", str(place / "results"), "--out-file", str(page)]
        shown = CliRunner().invoke(cli, words)
        assert shown.exit_code == 0, shown.output
        pages.append(page.read_text())
    assert not set(pages[1]) & (set(CONTROL) - {"\n"})
    plain, foreign = (sorted(Elements(page).found) for page in pages)
    assert plain == foreign


def test_a_figure_draws_names_as_they_are(stored: Path, tmp_path: Path) -> None:
    out = renamed(stored, tmp_path, r"$\frac$")
    shown = CliRunner().invoke(cli, ["plot", "TOY", "--out", str(out)])
    assert shown.exit_code == 0, shown.output


def test_every_command_prints_through_one_function() -> None:
    """`say` writes out what a terminal would obey; nothing else prints."""
    folder = Path(letorbench.__file__).parent
    printing = [
        f"{file.relative_to(folder)}:{node.lineno}"
        for file in sorted(folder.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text()))
        if isinstance(node, ast.Call) and ast.unparse(node.func) in ("click.echo", "print")
    ]
    assert [each.partition(":")[0] for each in printing] == ["cli/group.py", "compile.py"]


def test_every_page_is_escaped_by_one_function() -> None:
    folder = Path(letorbench.__file__).parent
    knowing = [
        file.name for file in folder.rglob("*.py")
        if "html import escape" in file.read_text() or "import html as _html" in file.read_text()
    ]  # fmt: skip
    assert knowing == ["escaping.py"]
