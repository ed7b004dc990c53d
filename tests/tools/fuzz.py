"""Fuzz every kind of input: nothing may crash, nothing may be misread.

``make fuzz SECONDS=600`` shares the time among the targets. An input that is misread, or that
ends the process, is written to the folder fuzz-found; put it into the target's corpus, and the
suite tries it from then on.

Inputs are random changes of a target's corpus; what is right among them joins it.
"""

import argparse
import importlib
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from target import WORDS, Target, mutated  # noqa: E402

#: the name of a target -> the module and the class that it is
TARGETS = {
    "letor": "fuzz_text:Letor",
    "scores": "fuzz_text:Scores",
    "ranklib": "fuzz_text:RankLib",
    "run": "fuzz_text:Run",
    "qrels": "fuzz_text:Qrels",
    "model": "fuzz_files:Model",
    "archive": "fuzz_files:Archive",
}

#: where inputs go that a target did not survive
FOUND = Path("fuzz-found")
#: the file of the input that is tried: a crash leaves no other trace of it
LAST = "last-input"


def target_class(name: str) -> type[Target]:
    """Return the class of a target."""
    module, _, kind = TARGETS[name].partition(":")
    return getattr(importlib.import_module(module), kind)


def by_mutations(
    made: Target, seconds: float, seed: int, work: Path, most: int = sys.maxsize
) -> int:
    """Try random changes of the corpus; return how many inputs were tried."""
    rng, known, words = random.Random(seed), made.seeds(), (*WORDS, *made.words * 4)
    tried, end = 0, time.monotonic() + seconds
    while tried < most and time.monotonic() < end:
        data = mutated(rng.choice(known), rng.choice(known), rng, words, made.most)
        (work / LAST).write_bytes(data)
        if made.taken(data) and len(known) < 1000 and rng.random() < 0.02:
            known.append(data)
        tried += 1
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=TARGETS, default=[])
    parser.add_argument("--seconds", type=float, default=110.0, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    if options.work:  # a process of its own, which a crash may end
        made = target_class(names[0])(options.work)
        tried = by_mutations(made, options.seconds, options.seed, options.work)
        print(f"{made.name}: {tried:,} inputs", flush=True)
        return 0
    options.seconds /= len(names)
    try:
        return max([in_new_process(name, options) for name in names])
    except KeyboardInterrupt:
        return 130


def in_new_process(name: str, options: argparse.Namespace) -> int:
    """Fuzz one target in a new process, which a crash may end; return its status."""
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
    with tempfile.TemporaryDirectory(prefix="letorbench-fuzz-", dir=memory) as folder:
        words = [sys.executable, __file__, "--target", name, "--seconds", str(options.seconds)]
        words += ["--seed", str(options.seed), "--work", folder]
        status = abs(subprocess.run(words).returncode)
        outcome = "0 crashes, 0 misread"
        if status:
            outcome = f"failed with status {status}, its input is in {FOUND}"
            if (Path(folder) / LAST).exists():
                FOUND.mkdir(exist_ok=True)
                shutil.copy(Path(folder) / LAST, FOUND / f"{name}-{options.seed}")
        print(f"{name}: {outcome}", flush=True)
        return status


if __name__ == "__main__":
    sys.exit(main())
