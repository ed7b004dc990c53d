"""The commands, options, targets, pages and figures that README.md and docs/ name exist.

What they print is compared by docs/check.py.
"""

import re
import shlex
from pathlib import Path

import click
import pytest

from letorbench.cli import cli

ROOT = Path(__file__).parents[1]
PAGES = {
    path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8")
    for path in (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
}
COMMANDS = {
    text
    for page in PAGES.values()
    for pattern in (r"^\$ (letorbench (?:.*\\\n)*.*)$", r"`(letorbench [^`…]*)`")
    for text in re.findall(pattern, page, re.MULTILINE)
}


def declared(words: list[str]) -> tuple[click.Command, list[str]]:
    """The subcommand that the words name, and what follows it."""
    command: click.Command = cli
    while isinstance(command, click.Group) and words and words[0] in command.commands:
        command, words = command.commands[words[0]], words[1:]
    return command, words


@pytest.mark.parametrize("text", sorted(COMMANDS))
def test_the_command_and_its_options_exist(text: str) -> None:
    words = shlex.split(text.replace("\\\n", " "), comments=True)[1:]
    words = words[: words.index("|")] if "|" in words else words
    command, rest = declared(words)
    assert command is not cli or rest in ([], ["--help"], ["--debug"]), text
    known = {name for each in (command, cli) for param in each.params for name in param.opts}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known | {"--help"}, text


def test_every_target_exists() -> None:
    makefile = (ROOT / "Makefile").read_text()
    targets = re.findall(r"^(?:PAPERS :=|)([\w.%\- ]+)(?::|$)", makefile, re.MULTILINE)
    known = {name.replace("%", ".+") for line in targets for name in line.split()}
    for page, text in PAGES.items():
        for target in re.findall(r"`make ([a-z][\w.-]*)", text):
            assert any(re.fullmatch(pattern, target) for pattern in known), (page, target)


def test_every_figure_and_page_that_is_linked_exists_and_is_in_the_index() -> None:
    for page, text in PAGES.items():
        for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", text):
            assert ((ROOT / page).parent / path).is_file(), path
    listed = PAGES["docs/index.md"].split("```")[1].split()
    assert {Path(page).stem for page in PAGES} <= {*listed, "README", "index"}
    assert len(PAGES["README.md"].splitlines()) <= 200
