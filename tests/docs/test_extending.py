"""Seven small patches, which docs/extending.md shows, applied to a copy; the notebook's cells.

A patch may touch two files at most. What they add works at once: from Python, and where it has
a place there, from the command line. The tests of the architecture, of every measure and of every
ranker hold.
"""

import ast
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
PATCHES = ROOT / "tests" / "examples" / "patches"

#: what uses the thing that the patch of that name adds
USES = {
    "measure": """
import letorbench as lb
from letorbench.measures import parse
values = lb.evaluate([0, 1, 0], [3.0, 2.0, 1.0], qid=[1, 1, 1], measures=["f1@1,f1@3"])
assert list(values) == [0.0, 0.5], values
with pytest.raises(ValueError, match="did you mean f1"):
    parse("f11@1")
""",
    "loss": """
import numpy as np
from letorbench.datasets.queryset import QuerySet
from letorbench.losses import loss
queries = QuerySet.from_arrays(np.zeros((4, 1)), [0, 1, 2, 0], [1, 1, 2, 2])
scores, step = np.array([0.3, 0.9, -4.0, 0.2]), 1e-6
huber = loss("huber(width=2.0)")
at = huber(scores, queries)
for i in range(4):
    move = step * np.eye(4)[i]
    up, down = (huber(scores + h, queries).value.sum() for h in (move, -move))
    assert abs(at.gradient[i] - (up - down) / (2 * step)) < 1e-6
""",
    "ranker": """
import letorbench as lb
X, y, qid = [[0.1, 3.0], [0.9, 1.0], [0.4, 2.0]], [0, 2, 1], [7, 7, 7]
centroid = lb.Centroid(shrink=0.5).fit(X, y, qid=qid)
centroid.save("centroid.npz")
assert lb.load_model("centroid.npz").predict(X).argmax() == centroid.predict(X).argmax() == 1
assert lb.ranker("centroid") is lb.Centroid
assert "validation chooses from 0.5, 1.0, 2.0" in letorbench("algos centroid")
""",
    "dataset": """
assert "SHOP " in letorbench("datasets list")
assert "searches of our shop" in letorbench("datasets show SHOP")
letorbench("datasets make SHOP-twin")
assert "SHOP-twin" in letorbench("datasets list")
""",
    "command": """
assert "cite " in letorbench("--help")
assert "terms: ours" in letorbench("cite SHOP")
""",
    "paper": """
out = letorbench("reproduce jarvelin-2002")
assert "dcg-at-10" in out and out.count(" agrees") >= 2, out
""",
    "convention": """
import letorbench as lb
y, scores, qid = [1, 2], [2.0, 1.0], [1, 1]
assert lb.evaluate(y, scores, qid=qid, measures="p@1", convention="strict").item() == 0.0
assert lb.evaluate(y, scores, qid=qid, measures="p@1", convention="standard").item() == 1.0
assert "strict" in letorbench("score --help") and "strict" in letorbench("run --help")
""",
}
PRELUDE = """
import pytest
from click.testing import CliRunner
from letorbench.cli import cli
def letorbench(line):
    done = CliRunner().invoke(cli, line.split())
    assert done.exit_code == 0, done.output
    return done.stdout
"""


@pytest.mark.skipif(shutil.which("git") is None, reason="git applies the patches")
def test_small_patches_add_one_of_each(tmp_path):
    compiled = shutil.ignore_patterns("__pycache__")
    for folder in ("letorbench", "tests"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=compiled)
    page = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
    assert {path.stem for path in PATCHES.glob("*.diff")} == set(USES)
    for what in USES:
        assert f"tests/examples/patches/{what}.diff" in page
        patch = PATCHES / f"{what}.diff"
        subprocess.run(["git", "apply", patch], cwd=tmp_path, check=True)
        touched = re.findall(r"^\+\+\+ b/", patch.read_text(encoding="utf-8"), re.MULTILINE)
        assert 1 <= len(touched) <= 2, (what, touched)
    uses = ["-c", PRELUDE + "".join(USES.values())]
    files = (f"tests/{name}" for name in (
        "test_architecture.py", "measures/test_every_measure.py", "rankers/test_every_ranker.py",
        "rankers/test_weights.py",
    ))  # fmt: skip
    those = "architecture or parses or bounded or centroid"
    for arguments in (uses, ["-m", "pytest", *files, "-k", those, "-p", "no:xdist"]):
        done = subprocess.run(
            [sys.executable, *arguments], cwd=tmp_path, text=True, capture_output=True,
            env=os.environ | {"PYTHONPATH": str(tmp_path), "NUMBA_DISABLE_JIT": "1"},
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr


CELLS = json.loads((ROOT / "docs" / "notebook.ipynb").read_text(encoding="utf-8"))["cells"]


def test_it_runs_and_every_cell_shows_a_value(tmp_path, monkeypatch):
    """On DEMO, which it takes where MQ2008 is not at hand, and with fewer rounds."""
    sklearn = pytest.importorskip("sklearn")
    code = ["".join(cell["source"]) for cell in CELLS if cell["cell_type"] == "code"]
    assert len(CELLS) <= 15 and all(c["outputs"] for c in CELLS if c["cell_type"] == "code")
    assert all(isinstance(ast.parse(source).body[-1], ast.Expr) for source in code)
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    with sklearn.config_context():
        exec("\n".join(code).replace("rounds=50", "rounds=3"), names)
    assert names["bench"].name == "DEMO" and len(names["results"].summary()) == 3
