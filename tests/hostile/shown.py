"""Damage of a results folder, then the commands that show it: right, or one line.

``PYTHONPATH=.:tests python tests/hostile/shown.py --times 1000`` damages a file of a small results
folder, whichever it is, and runs a command that reads it: `table`, `plot`, `compare` (also with
`--external`), `report`, `reproduce`. It must print and write what it does without the damage, or
what it does where the fold that the file belongs to is not there, with one line that names the
file; or end with one line and a status other than 0. A traceback, other numbers, and silence where
numbers are left out are misses.
"""

from __future__ import annotations

import argparse
import hashlib
import re
import shutil
import tempfile
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from click.testing import CliRunner
from damage import DAMAGES

from letorbench.cli import cli
from letorbench.results.paths import FIT


@dataclass(frozen=True)
class Shown:
    """How a command ended: its status, what it printed, and the files that it wrote."""

    status: int
    out: str
    files: tuple[tuple[str, str], ...]
    said: str = ""
    trace: str = ""

    def same(self, other: Shown) -> bool:
        """Whether both show the same, whatever is said beside it."""
        return (self.status, self.out, self.files) == (other.status, other.out, other.files)


def commands(place: Path) -> dict[str, Sequence[str]]:
    """Return the commands by name, for the folder `place`."""
    where = ["--data-dir", f"{place}/data", "--out", f"{place}/results"]
    other = f"theirs={place}/theirs/{{fold}}.txt"
    return {
        "table": ["table", "TOY", *where],
        "table csv": ["table", "TOY", "--format", "csv", *where],
        "plot": ["plot", "TOY", *where],
        "compare": ["compare", "TOY", *where],
        "compare --external": ["compare", "TOY", "--external", other, *where],
        "report": ["report", "TOY", "--out-file", f"{place}/report.html", *where],
        "reproduce": ["reproduce", "lecture-2018", *where],
    }


def prepare(place: Path) -> None:
    """Run two algorithms on a toy set, and a paper; put another system's scores beside."""
    from toy_data import write_toy

    write_toy(place / "data")
    where = ["--data-dir", f"{place}/data", "--out", f"{place}/results"]
    words = ["run", "--dataset", "TOY", "--algo", "regression,adarank-ndcg", "--set", "rounds=3"]
    for each in ([*words, *where], commands(place)["reproduce"]):
        done = CliRunner().invoke(cli, each)
        assert done.exit_code == 0, done.output
    (place / "theirs").mkdir()
    for path in (place / "results").glob("TOY/regression/fold*/scores.txt"):
        number = path.parent.name.removeprefix("fold")
        shutil.copyfile(path, place / "theirs" / f"{number}.txt")


def shown(place: Path, words: Sequence[str]) -> Shown:
    """Run a command in a copy of the folder, whose path is the same each time."""
    done = CliRunner().invoke(cli, words)
    trace = ""
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        trace = repr(done.exception)
    files = tuple(
        (path.relative_to(place).as_posix(), hashlib.blake2b(content(path)).hexdigest())
        for path in sorted(place.rglob("*"))
        if path.is_file() and path.relative_to(place).parts[0] != "data"
    )
    return Shown(done.exit_code, done.stdout, files, done.stderr, trace)


def content(path: Path) -> bytes:
    """Return what is in a file, without the times in it."""
    return re.sub(rb'"seconds": [0-9.e-]+|[0-9a-f]{32}', b"", path.read_bytes())


def undetected(times: int, seed: int = 0, log: bool = False) -> Counter[str]:
    """Damage a file, run a command, compare; return how often which went wrong."""
    rng = np.random.default_rng(seed)
    work = Path(tempfile.mkdtemp(prefix="letorbench-shown-"))
    whole, place = work / "whole", work / "place"
    missed: Counter[str] = Counter()
    without: dict[tuple[str, str], Shown] = {}
    try:
        prepare(whole)
        _copy(whole, place)
        known = commands(place)
        names = [
            path.relative_to(whole).as_posix()
            for folder in ("results", "theirs")
            for path in sorted((whole / folder).rglob("*"))
            if path.is_file()
        ]
        for number in range(times):
            name = list(known)[number % len(known)]
            read = [each for each in names if _reads(name, each)]
            file = read[int(rng.integers(len(read)))]
            _copy(whole, place)
            what = _damage(place / file, names, place, rng)
            found = shown(place, known[name])
            folds = [p for p in Path(file).parents if re.fullmatch(r"fold\d+", p.name)]
            allowed = []
            for gone in ("", *map(str, folds)):
                if (name, gone) not in without:
                    _copy(whole, place)
                    if gone:
                        shutil.rmtree(place / gone)
                    without[name, gone] = shown(place, known[name])
                allowed.append(without[name, gone])
            wrong = _wrong(found, allowed, file, what)
            if wrong:
                missed[f"{name}: {what} of {file}: {wrong}"] += 1
                if log:
                    print(f"{name}: {what} of {file}: {wrong}", flush=True)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return missed


def _reads(command: str, file: str) -> bool:
    """Whether a command has to do with a file."""
    if command == "reproduce":
        return file.startswith("results/papers")
    return file.startswith("results/TOY") or command == "compare --external"


def _copy(whole: Path, place: Path) -> None:
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(whole, place)


def _damage(path: Path, names: Sequence[str], place: Path, rng: np.random.Generator) -> str:
    """Damage a file; return how."""
    kinds = [*DAMAGES, "removed", "emptied", "exchanged", "a folder", "noise", "a loop"]
    kind = kinds[int(rng.integers(len(kinds)))]
    old = path.read_bytes()
    if callable(kind):
        with suppress(ValueError):
            path.write_bytes(kind(old, rng))
        return kind.__name__
    path.unlink()
    if kind == "emptied":
        path.write_bytes(b"")
    elif kind == "exchanged":
        alike = [n for n in names if Path(n).name == path.name and place / n != path]
        other = place / alike[int(rng.integers(len(alike)))] if alike else None
        path.write_bytes(other.read_bytes() if other else old)
    elif kind == "a folder":
        path.mkdir()
    elif kind == "noise":
        path.write_bytes(rng.bytes(len(old)))
    elif kind == "a loop":
        path.symlink_to(path.name)
    return kind


def _wrong(found: Shown, allowed: Sequence[Shown], file: str, what: str) -> str:
    """Return what is wrong with how a command ended; empty where nothing is."""
    if found.trace or "Traceback" in found.said:
        return f"traceback {found.trace} {found.said[-300:]}"
    if found.status:
        errors = [line for line in found.said.splitlines() if "error:" in line]
        if found.status not in (1, 2) or len(errors) != 1:
            return f"status {found.status}: {found.said[-300:]}"
        return ""
    # the damaged file itself may stay as it is where nobody reads it
    for each in allowed:
        if found.out == each.out and _but(found, file) == _but(each, file):
            silent = each is not allowed[0] and Path(file).parent.as_posix() not in found.said
            if what == "removed" and Path(file).name == FIT:
                return ""  # a fold without its fit.json is one that is not finished
            return "nothing said" if silent else ""
    return f"other output: {found.out[:300]} {found.said[-300:]}"


def _but(one: Shown, file: str) -> dict[str, str]:
    """Return the files without the damaged one, and without those beside it in its fold."""
    fold = re.match(r".*/fold\d+/", file)
    start = fold[0] if fold else file
    return {name: digest for name, digest in one.files if not name.startswith(start)}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    found = undetected(options.times, options.seed, log=True)
    print(f"{options.times} damages, not noticed or not told well: {found.total()}")
