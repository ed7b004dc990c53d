"""The list of planted faults fits the code, so that `make mutants` can plant them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))

from planted import Fault, faults  # noqa: E402


@pytest.mark.parametrize("fault", faults(), ids=lambda fault: fault.breaks)
def test_a_fault_stands_once_in_the_code_and_has_tests(fault: Fault) -> None:
    broken = fault.within((ROOT / fault.file).read_text())
    ast.parse(broken)
    for name in fault.tests.split():
        assert (ROOT / name).exists(), name
