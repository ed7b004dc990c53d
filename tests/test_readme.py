"""The README's commands, options and names exist; what they print was pasted from real runs."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import click
import pytest

from letorbench.cli import cli
from letorbench.rankers import names

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
COMMANDS = re.findall(r"^\$ (letorbench (?:.*\\\n)*.*)$", README, re.MULTILINE)
COMMANDS += re.findall(r"`(letorbench [^`…]*)`", README)


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


@pytest.mark.parametrize("text", sorted(set(COMMANDS)))
def test_the_command_and_its_options_exist(text: str) -> None:
    words = shlex.split(text.replace("\\\n", " "), comments=True)[1:]
    words = words[: words.index("|")] if "|" in words else words
    command, rest = declared(words)
    assert command is not cli or rest in ([], ["--help"]), text
    known = {name for parameter in command.params for name in parameter.opts}
    known |= {name for parameter in cli.params for name in parameter.opts} | {"--help"}
    used = {word.partition("=")[0] for word in rest if word.startswith("--")}
    assert used <= known, text


def test_every_target_exists() -> None:
    targets = re.findall(r"^([\w.%-]+(?: [\w.%-]+)*):", (ROOT / "Makefile").read_text(), re.M)
    known = {word for line in targets for word in line.split()}
    papers = re.search(r"^PAPERS := (.*)$", (ROOT / "Makefile").read_text(), re.M)
    known |= set(papers.group(1).split()) if papers else set()
    for target in re.findall(r"\bmake ([a-z][\w.-]*)", README):
        patterns = [name.replace("%", r".+") for name in known]
        assert any(re.fullmatch(pattern, target) for pattern in patterns), target


def test_every_ranker_is_in_the_table() -> None:
    rows = "\n".join(line for line in README.splitlines() if line.startswith("| `"))
    missing = [name for name in names() if f"`{name}`" not in rows]
    assert not missing


def test_every_figure_is_in_the_repository() -> None:
    for path in re.findall(r"!\[[^\]]*\]\(([^)]+)\)", README):
        assert (ROOT / path).is_file(), path
