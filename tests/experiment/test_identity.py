"""The identity of a stored fold knows the source that the fold depends on."""

from __future__ import annotations

import ast
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from toy_data import write_toy

from letorbench import source
from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.source import SCORING

PACKAGE = Path(source.__file__).parent

#: files that only name what others hold
NAMES = {PACKAGE / "__init__.py", PACKAGE / "results" / "__init__.py"}

#: what a task reaches besides, and why an edit of it changes no score and no measure
BESIDES = {
    "choices.py": "the words of error messages",
    "errors.py": "errors",
    "escaping.py": "how foreign text is shown",
    "files.py": "whole files",
    "lazy.py": "when a name is imported",
    "notices.py": "what is said to people",
    "seals.py": "check sums, which show that a file is damaged",
    "source.py": "the digest itself",
    "experiment/__init__.py": "nothing",
    "experiment/identity.py": "the identity itself",
    "experiment/plan.py": "which tasks there are; what is said of them is in the identity",
    "experiment/settings.py": "how settings are read; their values are in the identity",
    "results": "how a fold is stored, read and shown",
}


def reached(file: Path, seen: set[Path]) -> set[Path]:
    """Every file of the package that a file imports, or what it imports does."""
    if file in seen:
        return seen
    seen.add(file)
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in (node.module, *(f"{node.module}.{each.name}" for each in node.names)):
                for found in module_files(name):
                    reached(found, seen)
    return seen


def module_files(name: str) -> Iterator[Path]:
    """A module's file and those of the packages that it is in."""
    top, *parts = name.split(".")
    for stop in range(len(parts) + 1) if top == "letorbench" else ():
        place = PACKAGE.joinpath(*parts[:stop])
        for file in (place.with_suffix(".py"), place / "__init__.py"):
            if file.is_file():
                yield file


def test_the_digest_holds_all_that_a_task_reaches() -> None:
    known = [PACKAGE / place for place in (*SCORING, *BESIDES)]
    missing = [
        file.relative_to(PACKAGE).as_posix()
        for file in reached(PACKAGE / "experiment" / "task.py", set(NAMES)) - NAMES
        if not any(file == place or place in file.parents for place in known)
    ]
    assert sorted(missing) == []


def test_what_the_digest_holds_is_there() -> None:
    assert [place for place in (*SCORING, *BESIDES) if not (PACKAGE / place).exists()] == []


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the source, whose digest stands in the identities."""
    folder = tmp_path / "letorbench"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "PACKAGE", folder)
    source.source_digest.cache_clear()
    yield folder
    source.source_digest.cache_clear()


def edit(file: Path) -> None:
    """Change a file as an editor would."""
    file.write_text(file.read_text() + "\n# changed\n")
    source.source_digest.cache_clear()  # a new process would read the source again


@pytest.mark.parametrize(
    ("edited", "runs_again"),
    [
        ("rankers/regression.py", True),
        ("models/linear.py", True),
        ("instructions.py", True),
        ("experiment/select.py", True),
        ("experiment/candidates.py", True),
        ("results/scores.py", True),
        ("cli/run.py", False),
        ("analysis/figures.py", False),
    ],
)
def test_an_edited_ranker_is_run_again(
    copy: Path, tmp_path: Path, edited: str, runs_again: bool
) -> None:
    write_toy(tmp_path / "data")
    protocol = Protocol(tmp_path / "data", tmp_path / "out")

    def kept() -> bool:
        (outcome,) = run(["TOY"], ["regression"], [1], protocol).outcomes
        assert not outcome.error
        return outcome.kept

    assert [kept(), kept()] == [False, True]
    edit(copy / edited)
    assert kept() is not runs_again
    assert kept()
