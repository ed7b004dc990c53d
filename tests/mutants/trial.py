"""Whether any test notices that a file of the scratch copy is broken now."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pytest
from kernels import machine_code, reaches_kernels
from near_tests import Tests
from warm import Ended, run_tests

#: seconds of processor time for tests that take no time, and times what the tests took before
START, TIMES = 10.0, 4.0
#: what compiling again takes at most
COMPILING = 240.0


@dataclass(frozen=True)
class Verdict:
    """What a trial came to: noticed or not, how many tests it took, and why not tried if so."""

    noticed: bool
    why: str
    tests: int
    invalid: bool = False


class Only:
    """Leaves out of what pytest collects all but some tests."""

    def __init__(self, names: Iterable[str]) -> None:
        self.names = {*names}

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid in self.names]


def trial(tests: Tests, file: str, lines: range) -> Verdict:
    """Run the tests for an edit of lines of a file until one fails."""
    in_kernels = reaches_kernels(file, lines)
    tried = 0
    with machine_code(file, in_kernels):
        for step in filter(None, tests.steps(file, lines)):
            files = list(dict.fromkeys(name.partition("::")[0] for name in step))
            seconds = START + TIMES * sum(tests.seconds[name] for name in step)
            ended = run_tests(["-x", *files], seconds + in_kernels * COMPILING, Only(step))
            tried += len(step)
            if not ended.fine:
                return Verdict(True, reason(ended), tried, invalid=ended.status == 3)
    return Verdict(False, f"{tried} tests passed", tried)


def reason(ended: Ended) -> str:
    """Return in one line what noticed a fault."""
    if ended.signal:
        return f"stopped: ran for ever, or crashed (signal {ended.signal})"
    lines = ended.output.splitlines()
    failed = [line for line in lines if line.startswith(("FAILED", "ERROR"))]
    return (failed or [line for line in lines if "Error" in line] or lines[-1:] or [""])[-1]
