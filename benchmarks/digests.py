"""Equal settings, equal bytes: `python -m benchmarks.digests` makes the table of digests.

Every algorithm runs on one fold under every combination of

- kernels (and the cache of the data) made in this run, or loaded from an earlier one;
- one or two jobs;
- one, two or seven threads;
- the command line or Python, where the algorithms stand in reverse order.

A row's digest is that of the first repeat's `scores.txt` and `model.npz` together. With
`--machines` come runs in which NumPy and OpenBLAS take the code that they have for older
processors: what another machine would give.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import product
from pathlib import Path

from letorbench.rankers import names, ranker
from letorbench.results import paths

FROM_PYTHON = """
import sys, letorbench as lb
data, data_dir, fold, algos, jobs, out = sys.argv[1:]
names, folds = algos.split(",")[::-1], [int(fold)]
lb.run(data, names, out=out, folds=folds, jobs=int(jobs), data_dir=data_dir, repeats=1)
"""

#: environments that stand for another machine: what NumPy and OpenBLAS must not use here
MACHINES: Mapping[str, Mapping[str, str]] = {
    "AVX2 in NumPy": {"NPY_DISABLE_CPU_FEATURES": "X86_V4 AVX512_ICL AVX512_SPR"},
    "AVX2 in BLAS": {"OPENBLAS_CORETYPE": "Haswell"},
    "SSE3 in BLAS": {"OPENBLAS_CORETYPE": "Nehalem"},
}


@dataclass(frozen=True)
class Setting:
    """One way to run the same."""

    fresh: bool = False
    jobs: int = 1
    threads: int = 2
    python: bool = False
    machine: str = ""

    def __str__(self) -> str:
        kernels, caller = "fresh" if self.fresh else "cached", "Python" if self.python else "CLI"
        words = [kernels, f"jobs {self.jobs}", f"threads {self.threads}", caller, self.machine]
        return ", ".join(filter(None, words))


@dataclass(frozen=True)
class Place:
    """What is run: a fold of a data set in a data folder, and where kernels are kept."""

    dataset: str
    fold: int
    data_dir: Path
    kernels: Path

    def digests(self, setting: Setting, algos: list[str]) -> dict[str, str]:
        """Run the algorithms in a process of their own; return each one's digest."""
        with tempfile.TemporaryDirectory() as folder:
            out, data_dir, kernels = Path(folder, "out"), self.data_dir, self.kernels
            if setting.fresh:
                data_dir, kernels = Path(folder, "data"), Path(folder, "kernels")
                data_dir.mkdir()
                (data_dir / self.dataset).symlink_to((self.data_dir / self.dataset).resolve())
            environment = (
                os.environ
                | MACHINES.get(setting.machine, {})
                | {
                    "LETORBENCH_THREADS": str(setting.threads),
                    "NUMBA_CACHE_DIR": str(kernels),
                }
            )
            words = [self.dataset, data_dir, self.fold, ",".join(algos), setting.jobs, out]
            if setting.python:
                command = ["-W", "ignore", "-c", FROM_PYTHON, *words]
            else:
                options = ("dataset", "data-dir", "folds", "algo", "jobs", "out")
                command = ["-m", "letorbench", "run", "--repeats=1"]
                command += [f"--{name}={word}" for name, word in zip(options, words, strict=True)]
            call = [sys.executable, *map(str, command)]
            done = subprocess.run(call, env=environment, capture_output=True, text=True)
            if done.returncode:
                sys.exit(f"{setting}: {done.stderr}")
            return {name: self.digest(out, name) for name in algos}

    def digest(self, out: Path, algo: str) -> str:
        """Return the digest of what an algorithm left in a results folder."""
        folder = paths.fold_folder(out / self.dataset / algo, self.fold)
        digest = blake2b(digest_size=6)
        for name in (paths.SCORES, paths.MODEL):
            digest.update((folder / name).read_bytes())
        return digest.hexdigest()


def settings(quick: bool, machines: bool) -> list[Setting]:
    """Return the settings to run, the first of which the others must equal."""
    if quick:
        found = [
            Setting(threads=1), Setting(True, 1, 2), Setting(False, 2, 7, True),
        ]  # fmt: skip
    else:
        found = [
            Setting(*each) for each in product((False, True), (1, 2), (1, 2, 7), (False, True))
        ]
    return found + [Setting(machine=name) for name in MACHINES if machines]


def table(place: Place, chosen: Iterable[Setting], algos: list[str]) -> dict[str, set[str]]:
    """Run every setting; return each algorithm's digests, and print what differs at once."""
    found: dict[str, set[str]] = {name: set() for name in algos}
    first: dict[str, str] = {}
    for setting in chosen:
        digests = place.digests(setting, algos)
        first = first or digests
        for name, digest in digests.items():
            found[name].add(digest)
        others = [name for name in algos if digests[name] != first[name]]
        print(f"{setting}: {', '.join(others) or 'equal'}", file=sys.stderr, flush=True)
    return found


def main() -> None:
    published = [name for name in names() if ranker(name).published and ranker(name).available()]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="OHSUMED")
    parser.add_argument("--fold", type=int, default=1)
    parser.add_argument("--data-dir", type=Path, default=Path("data"))
    parser.add_argument("--algo", default=",".join(published))
    parser.add_argument("--quick", action="store_true", help="three settings that differ in all")
    parser.add_argument("--machines", action="store_true", help="other machines' code too")
    given = parser.parse_args()
    algos = given.algo.split(",")
    with tempfile.TemporaryDirectory() as kernels:
        place = Place(given.dataset, given.fold, given.data_dir, Path(kernels))
        place.digests(Setting(), algos)  # so that later ones load what this one compiled
        found = table(place, settings(given.quick, given.machines), algos)
    width = max(map(len, algos))
    for name, digests in found.items():
        print(name.ljust(width), *sorted(digests))
    differing = sum(len(digests) > 1 for digests in found.values())
    print(f"{len(algos) - differing} of {len(algos)} algorithms have one digest")
    sys.exit(1 if differing else 0)


if __name__ == "__main__":
    main()
