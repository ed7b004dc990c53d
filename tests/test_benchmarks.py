"""The benchmarks' table takes rows from every module that has some, and from no other."""

from __future__ import annotations

from pathlib import Path

import benchmarks
from benchmarks.__main__ import SCRIPTS, known


def test_the_table_takes_every_module_that_has_rows():
    folder = Path(benchmarks.__file__).parent
    having = {path.stem for path in folder.glob("*.py") if "\ndef rows(" in path.read_text()}
    assert having == set(known())
    assert all((folder / f"{name}.py").exists() for name in SCRIPTS)
