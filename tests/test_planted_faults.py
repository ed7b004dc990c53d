"""The list of planted faults fits the code, so that `make mutants` can plant them."""

from __future__ import annotations

import ast
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "tests" / "mutants"))

from planted import Fault, faults  # noqa: E402


def unfit(fault: Fault) -> str:
    """Return why a fault cannot be planted, empty where it can."""
    missing = [name for name in (fault.file, *fault.tests.split()) if not (ROOT / name).exists()]
    if missing:
        return f"found no {' and no '.join(missing)}"
    try:
        ast.parse(fault.within((ROOT / fault.file).read_text()))
    except (ValueError, SyntaxError) as error:
        return str(error)
    return ""


def test_every_fault_stands_once_in_the_code_and_has_tests() -> None:
    reasons = {fault.breaks: unfit(fault) for fault in faults()}
    wrong = [f"{breaks}: {reason}" for breaks, reason in reasons.items() if reason]
    assert not wrong, "\n".join(["faults to mend or to drop:", *wrong])
