"""The identity of a stored fold knows the source that the fold depends on."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from toy_data import write_toy

from letorbench import source
from letorbench.experiment.plan import Protocol
from letorbench.experiment.runner import run
from letorbench.source import SCORING, STEPS

PACKAGE = Path(source.__file__).parent

#: what only finds, arranges, stores or shows
BESIDES = ("datasets/acquire/", "datasets/catalog/", "results/", "analysis/", "api/", "cli/")


@pytest.mark.parametrize("name", ["regression", "ndcgboost", "recipe"])
def test_the_digest_leaves_out_what_no_score_depends_on(name: str) -> None:
    counted = source.reached([*SCORING, f"rankers/{name}.py"])
    assert [file for file in counted if file.startswith(BESIDES)] == []
    assert {"datasets/text/text_lines.py", "measures/ndcg.py", f"rankers/{name}.py"} <= counted
    assert all((PACKAGE / place).exists() for place in (*SCORING, *STEPS))


@pytest.fixture
def copy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the source, whose digest stands in the identities."""
    folder = tmp_path / "letorbench"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(source, "PACKAGE", folder)
    forget()
    yield folder
    forget()


def forget() -> None:
    """Read the source again, as a new process would."""
    for each in (source.text, source.imported, source.scoring_digest):
        each.cache_clear()


def edit(file: Path) -> None:
    """Change a file as an editor would."""
    file.write_text(file.read_text() + "\n# changed\n")
    forget()


@pytest.mark.parametrize(
    ("edited", "runs_again"),
    [
        ("rankers/regression.py", True),
        ("models/linear.py", True),
        ("instructions.py", True),
        ("experiment/select.py", True),
        ("results/measuring.py", True),
        ("results/scores.py", True),
        ("rankers/ndcgboost.py", False),
        ("datasets/catalog/letor3.py", False),
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
        return outcome.reused

    assert [kept(), kept()] == [False, True]
    edit(copy / edited)
    assert kept() is not runs_again
    assert kept()
