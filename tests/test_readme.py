"""The commands, options, targets, pages and figures that README.md and docs/ name exist.

What they print is compared by docs/check.py. The oldest Python is the same everywhere.
"""

import os
import re
import shlex
import shutil
import subprocess
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
    trees = re.findall(r"```\{toctree\}\n(.*?)```", PAGES["docs/index.md"], re.DOTALL)
    listed = " ".join(trees).split()
    assert {Path(page).stem for page in PAGES} <= {*listed, "README", "index"}
    assert len(PAGES["README.md"].splitlines()) <= 200


#: a Python that says it is 3.10
OLD = """#!/bin/sh
exec python3 -c 'import sys; sys.version_info = (3, 10, 13); exec(sys.argv[1])' "$2"
"""


def test_make_refuses_an_older_python_in_one_line(tmp_path: Path) -> None:
    for name in ("Makefile", "setup.py", "setup.cfg"):
        shutil.copy(ROOT / name, tmp_path)
    old = tmp_path / "python"
    old.write_text(OLD)
    old.chmod(0o755)
    # under `make test`, the variables of that make would be handed on
    variables = {name: text for name, text in os.environ.items() if "MAKE" not in name}
    for target in ("demo", "wheel-check"):
        made = subprocess.run(
            ["make", target, f"PYTHON={old}"],
            cwd=tmp_path, env=variables, capture_output=True, text=True,
        )  # fmt: skip
        (line,) = (made.stdout + made.stderr).splitlines()
        assert made.returncode and "found Python 3.10, expected 3.11 or newer" in line
    assert len(list(tmp_path.iterdir())) == 4


def test_every_place_names_the_same_minimum() -> None:
    for name, text in {
        "setup.cfg": "python_requires = >=3.11\n",
        "setup.py": 'python_requires=">=3.11"',
        "README.md": "(3.11 or newer",
        "docs/start.md": "Python 3.11 or newer",
        "tests/packaging/versions.py": "(3, 11)",
    }.items():
        assert text in (ROOT / name).read_text(), name
