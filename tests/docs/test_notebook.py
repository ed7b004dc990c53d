"""The notebook's cells run in order, on real data where they are at hand and on DEMO otherwise."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SHARED

ROOT = Path(__file__).parents[2]
NOTEBOOK = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))


def code() -> list[str]:
    return ["".join(cell["source"]) for cell in NOTEBOOK["cells"] if cell["cell_type"] == "code"]


def run(folder: Path, *checks: str) -> None:
    """Execute the cells, then the checks, in one namespace of a new process."""
    script = "\n".join(["import matplotlib", "matplotlib.use('agg')", *code(), *checks])
    environment = os.environ | {"PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=folder, env=environment, text=True, capture_output=True
    )
    assert done.returncode == 0, done.stderr


def test_it_has_at_most_15_cells_without_output() -> None:
    assert len(NOTEBOOK["cells"]) <= 15
    assert not any(cell.get("outputs") for cell in NOTEBOOK["cells"])


@pytest.mark.parametrize("source", code())
def test_every_cell_shows_a_value(source: str) -> None:
    last = ast.parse(source).body[-1]
    assert isinstance(last, ast.Expr)


def test_it_runs_on_demo(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    run(tmp_path, "assert bench.name == 'DEMO'", "assert len(results.summary()) == 3")


@pytest.mark.skipif(not SHARED.is_dir(), reason="no ../shared with the real data")
def test_it_runs_on_mq2008(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    archive = SHARED / "archives" / "MQ2008.zip"
    subprocess.run(
        [sys.executable, "-m", "letorbench", "datasets", "import", archive],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=True,
    )  # fmt: skip
    run(tmp_path, "assert bench.name == 'MQ2008'", "assert len(results.summary()) == 3")
