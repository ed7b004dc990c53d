"""Plant the faults of faults.toml one by one, and run the tests that must notice."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

LIST = Path(__file__).resolve().with_name("faults.toml")


@dataclass(frozen=True)
class Fault:
    """One text in place of another that stands once in a file, and the tests that must notice."""

    breaks: str
    file: str
    old: str
    new: str
    tests: str

    def within(self, text: str) -> str:
        """Return the file's text with the fault."""
        found = text.count(self.old)
        if found != 1:
            raise ValueError(f"{self.file}: found {self.old!r} {found} times, expected once")
        return text.replace(self.old, self.new)

    def lines(self, text: str) -> range:
        """Return the lines of the file that the fault takes the place of."""
        before, kept = text[: text.index(self.old)], len(self.old) - len(self.old.lstrip("\n"))
        first = before.count("\n") + kept + 1
        return range(first, first + self.old.strip("\n").count("\n") + 1)


def faults() -> list[Fault]:
    """Return the kept list."""
    import tomllib

    return [Fault(**each) for each in tomllib.loads(LIST.read_text())["fault"]]


def run() -> int:
    """Plant each fault and run its tests; print what was missed and return how many."""
    every = faults()
    missed = 0
    for fault in every:
        failure = first_failure(fault)
        missed += not failure
        print(f"{'noticed    ' if failure else 'NOT NOTICED'}  {fault.file}: {fault.breaks}")
        print(f"             {failure}" if failure else "")
        sys.stdout.flush()
    print(f"{len(every) - missed} of {len(every)} planted faults noticed")
    return missed


def first_failure(fault: Fault) -> str:
    """Return what fails of the fault's tests in the scratch copy, empty where nothing does."""
    from kernels import machine_code, reaches_kernels
    from scratch import TREE
    from trial import COMPILING, START, reason
    from warm import run_tests

    path = TREE / fault.file
    text = path.read_text()
    in_kernels = reaches_kernels(fault.file, fault.lines(text))
    path.write_text(fault.within(text))
    try:
        with machine_code(fault.file, in_kernels):
            ended = run_tests(["-x", *fault.tests.split()], 120 + START + in_kernels * COMPILING)
            return "" if ended.fine else reason(ended)
    finally:
        path.write_text(text)
