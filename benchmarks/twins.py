"""One fold of a large set's twin, every algorithm with its grid, beside LightGBM's trees.

``python -m benchmarks.twins --dataset MSLR-WEB10K-twin --data-dir FOLDER`` makes the twin where it
is not there, builds its cache, and runs `letorbench run --folds 1 --repeats 1 --jobs 1` for one
algorithm after the other, each in a process of its own: whole commands, reading, selection,
measuring and figures included. The peer is the same command with LightGBM's 100 trees of 31
leaves, no grid and no early end. Memory is the largest resident set of the process. ``--store``
puts the seconds into docs/speed.csv, which docs/speed.md draws.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from benchmarks.table import Row, show, store
from letorbench.datasets import layout
from letorbench.datasets.synthetic import make
from letorbench.experiment.plan import BASELINES
from letorbench.rankers import names, ranker

#: what "no grid, no early end" means for the peer
PEER_NAME = "lightgbm, 100 trees"
PEER = ("learning_rate=0.1", "leaves=31", "rounds=100", "patience=0")


def command(arguments: argparse.Namespace, algo: str, *settings: str) -> tuple[float, float]:
    """Seconds and the peak GiB of one run."""
    words = ["run", "--dataset", arguments.dataset, "--algo", algo, "--folds", "1", "--jobs", "1"]
    words += ["--repeats", "1", "--data-dir", str(arguments.data_dir)]
    words += [f"--set={setting}" for setting in settings]
    with tempfile.TemporaryDirectory() as out:
        start = time.perf_counter()
        process = subprocess.Popen(
            [sys.executable, "-m", "letorbench", *words, "--out", out],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
        assert process.stderr is not None
        said = process.stderr.read().decode()
        _, status, used = os.wait4(process.pid, 0)
        if status:
            raise SystemExit(f"{algo} failed: {said}")
        return time.perf_counter() - start, used.ru_maxrss / 2.0**20


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.twins", description=__doc__)
    parser.add_argument("--dataset", default="MSLR-WEB10K-twin")
    parser.add_argument("--algo", action="append", help="only these; repeat")
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--store", action="store_true", help="put the seconds into docs/speed.csv")
    arguments = parser.parse_args()
    if not layout.present(arguments.dataset, arguments.data_dir):
        make(arguments.dataset, arguments.data_dir)
    command(arguments, "random")  # builds the cache
    peer, memory = command(arguments, "lightgbm", *PEER)
    what = f"{arguments.dataset}, fold 1"
    rows = [Row(f"{what}, lightgbm, 100 trees of 31 leaves", f"{peer:.0f} s", _gib(memory), "-",
                None)]  # fmt: skip
    took: dict[str, float] = {}
    for algo in arguments.algo or [n for n in names() if ranker(n).available()]:
        took[algo], memory = command(arguments, algo)
        print(f"{algo}: {took[algo]:.1f} s, {_gib(memory)}", file=sys.stderr, flush=True)
        rows.append(beside(f"{what}, {algo}", took[algo], peer, 1.0, f"{_gib(memory)}, "))
    if set(BASELINES) <= set(took):
        total = sum(took[algo] for algo in BASELINES)
        rows.append(beside(f"{what}, the seven of the card", total, peer, 3.0))
    show(rows)
    if arguments.store:
        store([Row(what, "", "", "", None, {PEER_NAME: peer, **took})])


def beside(what: str, took: float, peer: float, most: float, memory: str = "") -> Row:
    """A row of a time that may be `most` times the peer's."""
    against = f"{memory}{took / peer:.2f} of LightGBM"
    return Row(what, f"{took:.0f} s", against, f"<= {most * peer:.0f} s", took <= most * peer)


def _gib(memory: float) -> str:
    return f"{memory:.1f} GiB"


if __name__ == "__main__":
    main()
