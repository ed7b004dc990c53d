"""Plant the faults of faults.toml one by one, and run the tests that must notice."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from near_tests import passes, reaches_kernels
from scratch import TREE, machine_code

from letorbench.cli.config import read

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


def faults() -> list[Fault]:
    return [Fault(**each) for each in read(LIST)["fault"]]


def run() -> int:
    """Plant each fault and run its tests; print what was missed and return how many."""
    every = faults()
    missed = 0
    for fault in every:
        noticed = is_noticed(fault)
        missed += not noticed
        print(f"{'noticed    ' if noticed else 'NOT NOTICED'}  {fault.file}: {fault.breaks}")
        sys.stdout.flush()
    print(f"{len(every) - missed} of {len(every)} planted faults noticed")
    return missed


def is_noticed(fault: Fault) -> bool:
    """Return whether the fault's tests fail in the scratch copy."""
    path = TREE / fault.file
    text = path.read_text()
    path.write_text(fault.within(text))
    line = text[: text.index(fault.old)].count("\n") + 1 + fault.old.startswith("\n")
    try:
        with machine_code({fault.file}, in_kernels=reaches_kernels(path, [line])):
            return not passes(fault.tests.split())
    finally:
        path.write_text(text)
