"""Two runs at once into one results folder: no fold may hold files of both.

``PYTHONPATH=.:tests python tests/hostile/pairs.py --times 100`` starts two runs of the same
algorithms with different seeds at the same moment. A fold is mixed where a file is not what the
seed in its fit.json gives alone.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from forked import fork, warm

from letorbench.results.paths import FIT, MODEL, QUERIES, SCORES, VALIDATION
from letorbench.results.summary import stored_summary

FILES = (SCORES, VALIDATION, MODEL, QUERIES)


def words(out: Path, seed: int, algos: str, *more: str) -> list[str]:
    return [
        sys.executable, "-m", "letorbench", "run", "--dataset", "TOY", "--algo", algos,
        "--set", "epochs=2", "--set", "learning_rate=0.01", "--repeats", "1",
        "--seed", str(seed), "--out", str(out), *more,
    ]  # fmt: skip


def forked_at_once(place: Path, commands: Sequence[Sequence[str]]) -> None:
    """Run the commands at the same time as children that have imported everything."""
    running = [fork(each[3:], place, place / f"said{i}") for i, each in enumerate(commands)]
    for i, process in enumerate(running):
        _, status = os.waitpid(process.pid, 0)
        assert status == 0, (place / f"said{i}").read_text()


def at_once(place: Path, commands: Sequence[Sequence[str]]) -> None:
    """Run the commands at the same time; every one must succeed."""
    running = [
        subprocess.Popen(each, cwd=place, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        for each in commands
    ]
    for process in running:
        _, said = process.communicate()
        assert process.returncode == 0, said


def mixed(out: Path, alone: dict[int, Path]) -> list[str]:
    """Return the folds of which a file is not what the seed in fit.json gives alone."""
    found = []
    for fit in sorted(out.glob(f"TOY/*/fold*/{FIT}")):
        seed = json.loads(fit.read_text())["identity"]["seed"]
        expected = alone[seed] / fit.parent.relative_to(out)
        if any((fit.parent / n).read_bytes() != (expected / n).read_bytes() for n in FILES):
            found.append(str(fit.parent))
    return found + list(stored_summary(out, "TOY").damaged)


def pairs(times: int, forked: bool = False) -> tuple[int, list[str]]:
    """Run pairs; return how many folds were looked at, and those that are mixed."""
    from toy_data import write_toy

    place = Path(tempfile.mkdtemp())
    try:
        write_toy(place / "data")
        alone = {seed: place / f"alone{seed}" for seed in (0, 1)}
        for seed, out in alone.items():
            at_once(place, [words(out, seed, "ranknet,regression")])
        start = at_once
        if forked:
            warm(words(place / "warm", 0, "ranknet,regression")[3:], place)
            start = forked_at_once
        count, wrong = 0, []
        for number in range(times):
            out = place / f"both{number}"
            more = ("--force",) if number % 2 else ()
            start(place, [words(out, seed, "ranknet,regression", *more) for seed in alone])
            count += len(list(out.glob(f"TOY/*/fold*/{FIT}")))
            wrong += mixed(out, alone)
            shutil.rmtree(out)
        return count, wrong
    finally:
        shutil.rmtree(place)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--forked", action="store_true", help="start runs without a start")
    options = parser.parse_args()
    count, wrong = pairs(options.times, options.forked)
    print(f"{options.times} pairs, {count} folds, mixed: {len(wrong)} {wrong[:3]}")
