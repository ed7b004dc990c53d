"""Break the package at random places, and say which faults no test notices.

`make mutants N=100 SEED=0` draws 100 places outside compiled code, breaks one at a time in a
scratch copy of the last commit (build/mutants), and runs the tests nearest to that module. Then it
plants the kept faults of faults.toml, many of them inside kernels. A stopped run goes on
where it was.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

import planted
import scratch
from cosmic_ray.work_db import use_db
from cosmic_ray.work_item import TestOutcome, WorkerOutcome
from near_tests import NOTICED, STOPPED

HERE = Path(__file__).resolve().parent

CONFIGURATION = """
[cosmic-ray]
module-path = "letorbench"
timeout = 3600.0  # near_tests.py has limits of its own
excluded-modules = []
test-command = "{python} {command}"

[cosmic-ray.distributor]
name = "local"
"""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python tests/mutants", description=__doc__)
    parser.add_argument("--number", type=int, default=100, help="mutants to draw")
    parser.add_argument("--seed", type=int, default=0, help="which ones")
    parser.add_argument("--only", choices=("drawn", "planted"), help="one of the two kinds")
    options = parser.parse_args()
    scratch.prepare()
    missed = 0
    if options.only != "planted":
        missed += drawn(options.number, options.seed)
    if options.only != "drawn":
        missed += planted.run()
    return int(missed > 0)


def drawn(number: int, seed: int) -> int:
    """Run the drawn mutants and print the survivors; return how many there are."""
    session = scratch.WORK / f"session-{number}-{seed}.sqlite"
    configuration = scratch.WORK / "cosmic-ray.toml"
    configuration.write_text(
        CONFIGURATION.format(python=sys.executable, command=HERE / "near_tests.py")
    )
    cosmic_ray = [sys.executable, "-m", "cosmic_ray.cli"]
    if not session.is_file():
        call([*cosmic_ray, "init", str(configuration), str(session)])
        sample = ["--number", str(number), "--seed", str(seed)]
        call([sys.executable, str(HERE / "sampled.py"), str(session), *sample])
    call([*cosmic_ray, "exec", str(configuration), str(session)])
    return report(session)


def call(command: list[str]) -> None:
    subprocess.run(command, cwd=scratch.TREE, env=scratch.environment(), check=True)


def report(session: Path) -> int:
    """Print every survivor and the share that was noticed."""
    with use_db(str(session)) as db:
        done = [r for _, r in db.completed_work_items if r.worker_outcome != WorkerOutcome.SKIPPED]
    outputs = {each: (each.output or "").splitlines() for each in done}
    survivors = [each for each in done if each.test_outcome == TestOutcome.SURVIVED]
    failed = [each for each in done if each not in survivors and NOTICED not in outputs[each]]
    for each in sorted(survivors, key=lambda result: result.diff or ""):
        print(each.diff, end="\n\n")
    stopped = sum(STOPPED in line for lines in outputs.values() for line in lines)
    noticed = len(done) - len(survivors) - len(failed)
    print(
        f"{noticed} of {len(done)} mutants noticed ({noticed / max(1, len(done)):.1%}), "
        f"{stopped} of them because they ran for ever or crashed"
    )
    if failed:
        print(f"{len(failed)} could not be tried:", *(outputs[failed[0]][-3:]), sep="\n")
    return len(survivors) + len(failed)


if __name__ == "__main__":
    sys.exit(main())
