"""The notebook's cells run in order, on real data where they are at hand and on DEMO otherwise."""

import ast
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import SHARED

ROOT = Path(__file__).parents[2]
CELLS = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]


def test_it_runs_and_every_cell_shows_a_value(tmp_path: Path) -> None:
    pytest.importorskip("sklearn")
    code = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
    assert len(CELLS) <= 15 and not any(cell.get("outputs") for cell in CELLS)
    assert all(isinstance(ast.parse(source).body[-1], ast.Expr) for source in code)
    archive = SHARED / "archives" / "MQ2008.zip"
    start = ["import matplotlib", "matplotlib.use('agg')"]
    if archive.exists():
        start += ["from letorbench.cli import cli"]
        words = ["datasets", "import", str(archive)]
        start += [f"cli.main({words}, standalone_mode=False)"]
    name = "MQ2008" if archive.exists() else "DEMO"
    end = [f"assert bench.name == {name!r}", "assert len(results.summary()) == 3"]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join([*start, *code, *end])],
        cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(ROOT)}, text=True, capture_output=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
