"""Rankers of other packages, found by their entry points."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from letorbench.rankers import ranker
from letorbench.rankers.plugins import GROUP, digest

EXAMPLE = Path(__file__).parents[1] / "examples" / "my_ranker.py"


def package(folder: Path, value: str) -> None:
    """What an installed package is to Python: a module, and metadata beside it."""
    (folder / "their_package.py").write_text(EXAMPLE.read_text())
    info = folder / "their_package-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{GROUP}]\ncentroid = {value}\n")


def algos(folder: Path) -> subprocess.CompletedProcess:
    path = f"import sys; sys.path.insert(0, {str(folder)!r})"
    code = f"{path}; from letorbench.cli import main; main()"
    return subprocess.run([sys.executable, "-c", code, "algos"], capture_output=True, text=True)


@pytest.mark.parametrize("value", ["their_package", "their_package:Centroid"])
def test_an_entry_point_is_found(tmp_path, value):
    package(tmp_path, value)
    assert "centroid " in algos(tmp_path).stdout


def test_a_broken_entry_point_is_named(tmp_path):
    package(tmp_path, "their_package:Nothing")
    done = algos(tmp_path)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "plug-in centroid = their_package:Nothing: AttributeError" in done.stderr


def test_only_a_plugins_code_has_a_digest():
    assert digest(ranker("regression")) is None
