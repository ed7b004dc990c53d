"""Random damage of stored results: all must be noticed.

`make damage TIMES=1000` damages a file so many times. A bit or a digit is changed, a
piece is cut out or exchanged, a file is removed, emptied or replaced by another. Noticed is damage
that costs nothing, because what comes out is the same, or that one line tells of.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import numpy as np
from click.testing import CliRunner

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from toy_data import stored_run  # noqa: E402

from letorbench.cli import cli  # noqa: E402

#: ways to damage bytes
WAYS = ("bit", "digit", "cut off", "extended", "piece gone", "zeroed", "noise", "emptied")


def damaged(content: bytes, way: str, rng: np.random.Generator) -> bytes:
    """Return the content after damage; it may be the same by chance."""
    first, last = np.sort(rng.integers(len(content) + 1, size=2)).tolist()
    if way == "bit" and content:
        place = first % len(content)
        changed = content[place] ^ 1 << int(rng.integers(8))
        return content[:place] + bytes([changed]) + content[place + 1 :]
    if way == "digit" and (digits := [i for i, byte in enumerate(content) if 48 <= byte <= 57]):
        place = digits[int(rng.integers(len(digits)))]
        other = (content[place] - 48 + 1 + int(rng.integers(9))) % 10 + 48
        return content[:place] + bytes([other]) + content[place + 1 :]
    if way == "extended":
        return content + [b"\n", b" ", b"0.5\n", b"\x00"][int(rng.integers(4))]
    if way == "piece gone":
        return content[:first] + content[last:]
    if way in ("zeroed", "noise"):
        new = bytes(last - first) if way == "zeroed" else rng.bytes(last - first)
        return content[:first] + new + content[last:]
    return b"" if way == "emptied" else content[:first]


def damage_file(path: Path, others: Iterable[Path], rng: np.random.Generator) -> str:
    """Damage a file, remove it, or put another of its name or a folder in its place; say how."""
    way = str(rng.choice([*WAYS, "removed", "exchanged", "a folder", "a loop"]))
    content = path.read_bytes()
    path.unlink()
    if way == "exchanged":
        alike = [each for each in others if each.name == path.name and each != path]
        other = alike[int(rng.integers(len(alike)))].read_bytes() if alike else content
        path.write_bytes(other)
    elif way == "a folder":
        path.mkdir()
    elif way == "a loop":
        path.symlink_to(path.name)
    elif way != "removed":
        path.write_bytes(damaged(content, way, rng))
    return way


class Shown(NamedTuple):
    """How a command ended: its status, what it printed, and the files that it left."""

    status: int
    out: str
    files: dict[str, bytes]
    errors: str


class Results:
    """A file of a results folder, under the commands that show results.

    A command must print and write what it does without the damage, or what it does where the
    fold of the file is not there, with one line that names that fold; or end with one line.
    """

    def __init__(self, folder: Path) -> None:
        self.whole, self.place = folder / "whole", folder / "place"
        where = ["--data-dir", f"{self.place}/data", "--out", f"{self.place}/results"]
        self.commands = [
            [*words, *where]
            for words in (
                ["table", "TOY"], ["table", "TOY", "--format", "csv"], ["compare", "TOY"],
                ["plot", "TOY"], ["report", "TOY", "--out-file", f"{self.place}/report.html"],
                ["reproduce", "lecture-2018"],
            )
        ]  # fmt: skip
        stored_run(self.place)
        self.without: dict[tuple[int, str], Shown] = {}
        self._shown(len(self.commands) - 1)
        shutil.copytree(self.place, self.whole)
        files = [path for path in self.whole.glob("results/**/*") if path.is_file()]
        self.names = sorted(str(path.relative_to(self.whole)) for path in files)

    def trial(self, rng: np.random.Generator) -> str:
        """Damage a file once and return what went wrong, empty if nothing."""
        number = int(rng.integers(len(self.commands)))
        about = "papers" if "reproduce" in self.commands[number] else "TOY"
        names = [name for name in self.names if about in name]
        name = names[int(rng.integers(len(names)))]
        self._restore()
        way = damage_file(self.place / name, [self.place / each for each in names], rng)
        result = self._shown(number)
        fold = re.match(r".*/fold\d+", name)
        allowed = [self._expected(number, gone) for gone in ("", fold[0] if fold else "")]
        wrong = _wrong(result, allowed, name, way)
        return f"{' '.join(self.commands[number][:2])}: {way} of {name}: {wrong}" if wrong else ""

    def _restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.whole, self.place)

    def _expected(self, number: int, gone: str) -> Shown:
        """Return what a command shows where nothing is damaged and a folder is not there."""
        if (number, gone) not in self.without:
            self._restore()
            if gone:
                shutil.rmtree(self.place / gone)
            self.without[number, gone] = self._shown(number)
        return self.without[number, gone]

    def _shown(self, number: int) -> Shown:
        done = CliRunner().invoke(cli, self.commands[number])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            return Shown(-1, "", {}, f"Traceback: {done.exception!r}")
        files = {
            str(path.relative_to(self.place)): re.sub(
                rb'"seconds": [0-9.e-]+|[0-9a-f]{32}', b"", path.read_bytes()
            )
            for path in self.place.glob("*/**/*")
            if path.is_file() and "data" not in path.relative_to(self.place).parts
        }
        return Shown(done.exit_code, done.stdout, files, done.stderr)


def _wrong(result: Shown, allowed: list[Shown], name: str, way: str) -> str:
    """Return what is wrong with how a command ended; empty where nothing is."""
    if result.status:
        lines = [line for line in result.errors.splitlines() if "error:" in line]
        fine = result.status in (1, 2) and len(lines) == 1 and "Traceback" not in result.errors
        return "" if fine else f"status {result.status}: {result.errors[-300:]}"
    beside = re.sub(r"(/fold\d+/).*", r"\1", name)  # files that nobody reads may stay as they are
    whole, without = (
        {file: content for file, content in each.files.items() if not file.startswith(beside)}
        for each in allowed
    )
    files = {f: content for f, content in result.files.items() if not f.startswith(beside)}
    if result.out == allowed[0].out and files == whole:
        return ""
    if result.out == allowed[1].out and files == without:
        # a fold without its fit.json is one that is not finished
        told = name.rpartition("/")[0] in result.errors or (
            way == "removed" and name.endswith("fit.json")
        )
        return "" if told else "nothing is said"
    return f"other output: {result.out[:300]} {result.errors[-300:]}"


def unnoticed(times: int, seed: int = 0) -> Counter[str]:
    """Damage results again and again; return what went wrong how often."""
    rng = np.random.default_rng(seed)
    with tempfile.TemporaryDirectory(prefix="letorbench-damage-") as folder:
        made = Results(Path(folder))
        return Counter(wrong for _ in range(times) if (wrong := made.trial(rng)))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--times", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    wrong = unnoticed(options.times, options.seed)
    print(f"{options.times} damages, {wrong.total()} not noticed or not told well")
    print("".join(f"  {count} x {each}\n" for each, count in wrong.items()), end="")
    sys.exit(bool(wrong))
