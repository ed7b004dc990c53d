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
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE), str(HERE.parent), str(HERE.parents[1])]

from mutations import WORDS, mutated  # noqa: E402

#: the name of a target -> the module and the class that it is
TARGETS = {
    "letor": "fuzz_letor:Letor",
}


def target(name: str, folder: Path):
    """Return the target of that name with a folder to work in."""
    module, _, kind = TARGETS[name].partition(":")
    return getattr(__import__(module), kind)(folder)


def by_mutations(made, inputs: int, seconds: float, seed: int, found: Path) -> tuple[int, int]:
    """Try random changes of the corpus; return how many inputs were tried and how many taken."""
    rng = random.Random(seed)
    known = made.seeds()
    words = (*WORDS, *made.words * 4)
    end = time.monotonic() + seconds
    tried = taken = 0
    while tried < inputs and time.monotonic() < end:
        data = mutated(rng.choice(known), rng.choice(known), rng, words, made.most)
        try:
            good = made.taken(data)
        except BaseException:
            found.mkdir(parents=True, exist_ok=True)
            (found / f"{made.name}-{seed}-{tried}").write_bytes(data)
            raise
        tried += 1
        taken += good
        if good and len(known) < 1000 and rng.random() < 0.02:
            known.append(data)
    return tried, taken


def by_coverage(name: str, inputs: int, seconds: float, seed: int, found: Path) -> None:
    """Let Atheris choose inputs. It ends the process."""
    import atheris

    module, _, kind = TARGETS[name].partition(":")
    watched = getattr(__import__(module), kind).watched
    for each in [each for each in sys.modules if each in watched]:
        del sys.modules[each]
    if module in sys.modules:
        del sys.modules[module]
    with atheris.instrument_imports(include=list(watched)):
        for each in watched:
            __import__(each)
    folder = Path(tempfile.mkdtemp(prefix="letorbench-fuzz-", dir=_memory()))
    made = target(name, folder)
    corpus = folder / "corpus"
    corpus.mkdir()
    for number, data in enumerate(made.seeds()):
        (corpus / str(number)).write_bytes(data)
    found.mkdir(parents=True, exist_ok=True)
    words, known = (*WORDS, *made.words * 4), made.seeds()

    def change(data: bytes, most: int, number: int) -> bytes:
        rng = random.Random(number)
        if rng.random() < 0.3:
            return atheris.Mutate(data, most)
        return mutated(data, rng.choice(known), rng, words, most)

    def one(data: bytes) -> None:
        made.taken(data)

    flags = [
        f"-seed={seed + 1}", f"-max_len={made.most}", f"-artifact_prefix={found}/{name}-",
        "-timeout=60", "-rss_limit_mb=8192", "-verbosity=0", "-print_final_stats=1",
        *([f"-runs={inputs}"] if inputs else []),
        *([f"-max_total_time={max(1, int(seconds))}"] if seconds else []),
    ]  # fmt: skip
    atheris.Setup([sys.argv[0], *flags, str(corpus)], one, custom_mutator=change)
    atheris.Fuzz()


def _memory() -> str | None:
    """A folder in memory, where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--target", action="append", choices=TARGETS, default=[])
    parser.add_argument("--seconds", type=float, default=0.0, help="in all")
    parser.add_argument("--inputs", type=int, default=0, help="of each target")
    parser.add_argument("--engine", choices=("coverage", "mutations"), default="coverage")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--found", type=Path, default=Path("fuzz-found"))
    options = parser.parse_args()
    names = options.target or list(TARGETS)
    seconds = options.seconds / len(names) or (0.0 if options.inputs else 10.0)
    if len(names) > 1:  # each in a process of its own, which a crash may end
        return max([_alone(name, seconds, options) for name in names])
    if options.engine == "coverage":
        by_coverage(names[0], options.inputs, seconds, options.seed, options.found)
    with tempfile.TemporaryDirectory(prefix="letorbench-fuzz-", dir=_memory()) as folder:
        start = time.monotonic()
        made = target(names[0], Path(folder))
        limits = options.inputs or sys.maxsize, seconds or float("inf")
        tried, taken = by_mutations(made, *limits, options.seed, options.found)
        spent = time.monotonic() - start
        print(f"{names[0]}: {tried} inputs, {taken} taken, {tried - taken} refused, "
              f"0 crashes, 0 misread, {spent:.0f} s", flush=True)  # fmt: skip
    return 0


def _alone(name: str, seconds: float, options: argparse.Namespace) -> int:
    """Fuzz one target in a new process; return its status."""
    words = [sys.executable, __file__, "--target", name, "--engine", options.engine]
    words += ["--seconds", str(seconds), "--inputs", str(options.inputs)]
    words += ["--seed", str(options.seed), "--found", str(options.found)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    lines = done.stdout.splitlines()
    if done.returncode:
        print("\n".join(lines[-40:]))
        print(f"{name}: failed with status {done.returncode}; its input is in {options.found}")
    else:
        told = [line for line in lines if "inputs" in line or "executed_units" in line]
        print(f"{name}: ok, {' '.join(told).removeprefix(name + ': ')}", flush=True)
    return abs(done.returncode)


if __name__ == "__main__":
    sys.exit(main())
