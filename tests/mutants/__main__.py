"""Break the package at random places, and say which faults no test notices.

`make mutants N=500 SEED=0` draws 500 places outside compiled code, breaks one at a time in a
scratch copy of the last commit (build/mutants), and runs the tests that execute the broken line
until one fails. Then it plants the kept faults of faults.toml, many of them inside kernels. A
stopped run goes on where it was.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import planted
import scratch
import warm
from recorder import TESTS, Recorder


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--only", choices=("drawn", "planted"), help="one of the two kinds")
    options = parser.parse_args()
    if scratch.prepare():
        print("the scratch copy is made and compiled")
    warm.warm_up()
    missed = 0
    if options.only != "planted":
        record()
        missed += drawn(options.number, options.seed)
    if options.only != "drawn":
        missed += planted.run()
    return int(missed > 0)


def record() -> None:
    """Run all tests once, and note which lines each executes."""
    if TESTS.is_file():
        return
    start = time.monotonic()
    ended = warm.run_tests([], None, Recorder())
    print(ended.output[-2000:], end="")
    if not TESTS.is_file():
        raise RuntimeError("the tests could not be run on the code as it is")
    print(f"the lines that each test executes are noted, in {time.monotonic() - start:.0f} s")


def drawn(number: int, seed: int) -> int:
    """Try the drawn mutants and print the survivors; return how many there are."""
    import session

    path = scratch.WORK / f"session-{number}-{seed}.sqlite"
    session.run(path, number, seed)
    return session.report(path)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    sys.exit(main())
