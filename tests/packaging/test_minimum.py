"""The oldest Python is the same everywhere, and an older one is refused before all else."""

import os
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
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
