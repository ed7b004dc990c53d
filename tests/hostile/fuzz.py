"""Fuzz every kind of input: nothing may crash, nothing may be misread.

``make fuzz SECONDS=600`` shares the time among the targets. An input that is misread, or that
ends the process, is written to the folder `--found`; put it into the target's corpus, and the
suite tries it from then on. `--inputs` counts inputs instead of seconds.

The engine is Atheris, which is guided by the branches that an input takes in the modules that a
target names. Compiled kernels have no branches that it can see: for LETOR text the plain reader's
branches guide it. `--engine mutations` changes the corpus at random, which needs no package and
tries more inputs a second.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from mutations import WORDS, mutated  # noqa: E402

#: the name of a target -> the module and the class that it is
TARGETS = {
    "letor": "fuzz_letor:Letor",
    "scores": "fuzz_scores:Scores",
    "ranklib": "fuzz_scores:RankLib",
    "run": "fuzz_scores:Run",
    "qrels": "fuzz_scores:Qrels",
    "model": "fuzz_models:ModelFile",
    "forged-model": "fuzz_models:ForgedModel",
    "trees": "fuzz_models:Trees",
    "config": "fuzz_folders:Config",
    "cache": "fuzz_folders:CacheFile",
    "archive": "fuzz_folders:Archive",
    "result": "fuzz_folders:ResultFile",
    "trials": "fuzz_folders:Trials",
}


#: the file of the input that is tried
LAST = "last-input"


class Places(NamedTuple):
    """The folders of a process: where it works, and where inputs go that it did not survive."""

    work: Path
    found: Path


def target(name: str, folder: Path):
    """Return the target of that name with a folder to work in."""
    module, _, kind = TARGETS[name].partition(":")
    return getattr(__import__(module), kind)(folder)


def by_mutations(made, inputs: int, seconds: float, seed: int, work: Path) -> tuple[int, int]:
    """Try random changes of the corpus; return how many inputs were tried and how many taken.

    The input that is tried just now is in work/LAST: a crash leaves no other trace of it.
    """
    rng = random.Random(seed)
    known = made.seeds()
    words = (*WORDS, *made.words * 4)
    end = time.monotonic() + seconds
    tried = taken = 0
    while tried < inputs and time.monotonic() < end:
        data = mutated(rng.choice(known), rng.choice(known), rng, words, made.most)
        (work / LAST).write_bytes(data)
        good = made.taken(data)
        tried += 1
        taken += good
        if good and len(known) < 1000 and rng.random() < 0.02:
            known.append(data)
    return tried, taken


def by_coverage(name: str, inputs: int, seconds: float, seed: int, places: Places) -> None:
    """Let Atheris choose inputs. It ends the process."""
    import atheris

    module, _, kind = TARGETS[name].partition(":")
    watched = getattr(__import__(module), kind).watched
    for each in {*watched, module} & sys.modules.keys():
        del sys.modules[each]
    with atheris.instrument_imports(include=list(watched)):
        for each in watched:
            __import__(each)
    made = target(name, places.work)
    words, known = (*WORDS, *made.words * 4), made.seeds()
    corpus = places.work / "corpus"
    corpus.mkdir()
    for number, data in enumerate(known):
        (corpus / str(number)).write_bytes(data)
    places.found.mkdir(parents=True, exist_ok=True)

    def change(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.3:
            return atheris.Mutate(data, most)
        return mutated(data, rng.choice(known), rng, words, most)

    def one(data: bytes) -> None:
        made.taken(data)

    flags = [
        f"-seed={seed + 1}", f"-max_len={made.most}", f"-artifact_prefix={places.found}/{name}-",
        "-timeout=60", "-rss_limit_mb=8192", "-verbosity=0", "-print_final_stats=1",
        *([f"-runs={inputs}"] if inputs else []),
        *([f"-max_total_time={max(1, int(seconds))}"] if seconds else []),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags, str(corpus)], one, custom_mutator=change)
    atheris.Fuzz()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=TARGETS, default=[])
    parser.add_argument("--seconds", type=float, default=0.0, help="in all")
    parser.add_argument("--inputs", type=int, default=0, help="of each target")
    parser.add_argument("--engine", choices=("coverage", "mutations"), default="coverage")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    parser.add_argument("--work", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.engine == "coverage" and find_spec("atheris") is None:
        print("Atheris is not installed: the corpus is changed at random", flush=True)
        options.engine = "mutations"
    names = options.target or list(TARGETS)
    if options.work:  # a process of its own, which a crash may end
        _one(names[0], options)
        return 0
    options.seconds = options.seconds / len(names) or (0.0 if options.inputs else 10.0)
    return max([_alone(name, options) for name in names])


def _one(name: str, options: argparse.Namespace) -> None:
    places = Places(options.work, options.found)
    if options.engine == "coverage":
        by_coverage(name, options.inputs, options.seconds, options.seed, places)
    start = time.monotonic()
    limits = options.inputs or sys.maxsize, options.seconds or float("inf")
    made = target(name, places.work)
    tried, taken = by_mutations(made, *limits, options.seed, places.work)
    spent = time.monotonic() - start
    print(f"{tried} inputs, {taken} taken, {tried - taken} refused, {spent:.0f} s")


def _alone(name: str, options: argparse.Namespace) -> int:
    """Fuzz one target in a new process; return its status."""
    with tempfile.TemporaryDirectory(prefix="letorbench-fuzz-", dir=_memory()) as work:
        words = [sys.executable, __file__, "--target", name, "--engine", options.engine]
        words += ["--seconds", str(options.seconds), "--inputs", str(options.inputs)]
        words += ["--seed", str(options.seed), "--found", str(options.found), "--work", work]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        last = Path(work, LAST)
        if done.returncode and last.exists():
            options.found.mkdir(parents=True, exist_ok=True)
            shutil.copy(last, options.found / f"{name}-{options.seed}")
    lines = done.stdout.splitlines()
    if done.returncode:
        print("\n".join(lines[-40:]))
        print(f"{name}: failed with status {done.returncode}; its input is in {options.found}")
    else:
        told = [line for line in lines if " inputs, " in line or "executed_units" in line]
        print(f"{name}: 0 crashes, 0 misread; {' '.join(told)}", flush=True)
    return abs(done.returncode)


def _memory() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


if __name__ == "__main__":
    sys.exit(main())
