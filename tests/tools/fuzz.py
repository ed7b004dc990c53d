"""Fuzz every kind of input: nothing may crash, nothing may be misread.

``make fuzz SECONDS=600`` shares the time among the targets, each in a process of its own, which a
crash may end. An input that is misread, or that ends the process, stays in the folder fuzz-found;
put it into the target's corpus, and the suite tries it from then on.

Inputs are random changes of a target's corpus; what is right among them joins it.
"""

import argparse
import importlib
import os
import random
import subprocess
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from target import WORDS, Target, mutated  # noqa: E402

#: the targets by the module that their classes are in
MODULES = {
    "fuzz_text": ("Letor", "Scores", "RankLib", "Run", "Qrels"),
    "fuzz_files": ("Model", "Archive", "LightGBMText", "XGBoostJSON", "XGBoostUBJ",
                   "LibraryInside"),
}  # fmt: skip
TARGETS = {name: module for module, names in MODULES.items() for name in names}
#: where inputs go that a target did not survive
FOUND = Path("fuzz-found")


def target_class(name: str) -> type[Target]:
    """Return the class of a target."""
    return getattr(importlib.import_module(TARGETS[name]), name)


def by_mutations(
    made: Target, seconds: float, seed: int, last: Path, most: int = sys.maxsize
) -> int:
    """Try random changes of the corpus, each kept in a file first; return how many."""
    rng, known, words = random.Random(seed), made.seeds(), (*WORDS, *made.words * 4)
    tried, end = 0, time.monotonic() + seconds
    while tried < most and time.monotonic() < end:
        data = mutated(rng.choice(known), rng.choice(known), rng, words, made.most)
        last.write_bytes(data)
        if made.taken(data) and len(known) < 1000 and rng.random() < 0.02:
            known.append(data)
        tried += 1
    return tried


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", choices=TARGETS, help="one alone, in this process")
    parser.add_argument("--seconds", type=float, default=110.0, help="in all")
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    FOUND.mkdir(exist_ok=True)
    if options.target is None:
        words = [sys.executable, __file__, "--seed", str(options.seed), "--seconds"]
        words += [str(options.seconds / len(TARGETS)), "--target"]
        failed = [name for name in TARGETS if subprocess.run([*words, name]).returncode]
        print("".join(f"{name}: failed, its input is in {FOUND}\n" for name in failed), end="")
    else:
        failed, last = [], FOUND / f"{options.target}-{options.seed}"
        memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None
        with tempfile.TemporaryDirectory(prefix="letorbench-fuzz-", dir=memory) as folder:
            made = target_class(options.target)(Path(folder))
            tried = by_mutations(made, options.seconds, options.seed, last)
        last.unlink()
        print(f"{options.target}: {tried:,} inputs, 0 crashes, 0 misread", flush=True)
    with suppress(OSError):  # an input is left
        FOUND.rmdir()
    return len(failed)


if __name__ == "__main__":
    sys.exit(main())
