"""Shell completion, asked for the way that bash asks."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from stored_results import store_fold
from toy_data import write_toy


@pytest.fixture
def toy(tmp_path: Path) -> Path:
    write_toy(tmp_path / "data")
    store_fold(tmp_path / "results", "TOY", "ndcgboost", 1, {"map": 0.5})
    return tmp_path


def complete(line: str, folder: Path) -> list[str]:
    """What is offered for the last word of a command line."""
    words = line.split(" ")
    asked = {
        "_LETORBENCH_COMPLETE": "bash_complete",
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - 1),
    }
    done = subprocess.run(
        [sys.executable, "-m", "letorbench"], cwd=folder, env={**os.environ, **asked},
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return [name for row in done.stdout.splitlines() if (name := row.partition(",")[2])]


def test_names(toy):
    assert complete("letorbench run --dataset T", toy) == ["TOY"]
    assert complete("letorbench run --data-dir nowhere --dataset T", toy) == []
    assert complete("letorbench run --algo ndcgb", toy) == ["ndcgboost"]
    assert complete("letorbench run --algo regression,ndcgb", toy) == ["regression,ndcgboost"]
    assert complete("letorbench run --algo ndcgboost,NDCGB", toy) == []
    assert complete("letorbench algos lis", toy) == ["listnet"]
    assert complete("letorbench datasets show mslr", toy) == ["MSLR-WEB10K", "MSLR-WEB30K"]


def test_the_script_that_the_shell_reads(toy):
    env = {**os.environ, "_LETORBENCH_COMPLETE": "zsh_source"}
    done = subprocess.run(
        [sys.executable, "-m", "letorbench"], env=env, capture_output=True, text=True, check=True
    )
    assert "#compdef letorbench" in done.stdout


def test_papers_and_their_parts(toy):
    assert complete("letorbench reproduce lam", toy) == ["lambdarank-2006"]
    offered = complete("letorbench reproduce lambdarank-2006 --part figure-", toy)
    assert offered == ["figure-1", "figure-2", "figure-3"]
