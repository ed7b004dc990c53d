"""The commands, options, targets, pages and figures that README.md and docs/ name exist.

What they print is compared by docs/check.py.
"""

from __future__ import annotations

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
    context = click.Context(cli)
    while isinstance(command, click.Group) and words:
        found = command.get_command(context, words[0])
        if found is None:
            break
        command, words = found, words[1:]
    return command, words


@pytest.mark.parametrize("text", sorted(COMMANDS))
def test_the_command_and_its_options_exist(text: str) -> None:
    words = shlex.split(text.replace("\\\n", " "), comments=True)[1:]
    words = words[: words.index("|")] if "|" in words else words
    command, rest = declared(words)
    assert command is not cli or rest in ([], ["--help"], ["--debug"]), text
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {name for parameter in cli.params for name in parameter.opts} | {"--help"}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known, text


def test_the_readme_is_one_page() -> None:
    assert len(PAGES["README.md"].splitlines()) <= 200


@pytest.mark.parametrize("page", PAGES)
def test_every_target_exists(page: str) -> None:
    targets = re.findall(r"^([\w.%-]+(?: [\w.%-]+)*):", (ROOT / "Makefile").read_text(), re.M)
    known = {word for line in targets for word in line.split()}
    papers = re.search(r"^PAPERS := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    known |= set(papers.group(1).split()) if papers else set()
    for target in re.findall(r"`make ([a-z][\w.-]*)", PAGES[page]):
        patterns = [name.replace("%", r".+") for name in known]
        assert any(re.fullmatch(pattern, target) for pattern in patterns), target


@pytest.mark.parametrize("page", PAGES)
def test_every_figure_and_page_that_is_linked_exists(page: str) -> None:
    for path in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", PAGES[page]):
        assert ((ROOT / page).parent / path).is_file(), path


def test_every_page_is_in_the_index() -> None:
    listed = PAGES["docs/index.md"].split("```")[1].split()
    pages = {Path(page).stem for page in PAGES if page.startswith("docs/")} - {"index"}
    assert pages <= set(listed)
