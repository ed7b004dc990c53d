"""Random damage of stored results: all must be noticed.

`make damage TIMES=1000` damages a file so many times. A bit is changed, a piece is cut out or
exchanged, a file is removed, emptied or replaced by another. Noticed is damage that costs nothing,
because what comes out is the same, or that one line tells of.
"""

import argparse
import re
import shutil
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from click.testing import CliRunner

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(TESTS.parent)]

from toy_data import stored_run  # noqa: E402

from letorbench.cli import cli  # noqa: E402

#: what writes the copies of the folds' numbers, which nothing reads
RUN = "run --dataset TOY --algo regression,adarank-ndcg --set rounds=3"
COPY = re.compile(r"results/TOY/(.*/)?[a-z_]+\.csv")
#: the commands that show results; the last one stores some of its own
COMMANDS = (
    "table TOY", "table TOY --format csv", "compare TOY", "plot TOY",
    "report TOY --out-file {}/results/page.html", "reproduce lecture-2018",
)  # fmt: skip


def damage_file(path: Path, other: Path, rng: np.random.Generator) -> str:
    """Damage a file, remove it, or put another one, a folder or a loop in its place; say how."""
    content = path.read_bytes()
    first, last = np.sort(rng.integers(len(content) + 1, size=2)).tolist()
    bit = int(rng.integers(8 * len(content)))
    flipped = content[bit // 8] ^ 1 << bit % 8
    damaged = {
        "bit": content[: bit // 8] + bytes([flipped]) + content[bit // 8 + 1 :],
        "cut off": content[:first],
        "extended": content + [b"\n", b" ", b"0.5\n", b"\x00"][int(rng.integers(4))],
        "piece gone": content[:first] + content[last:],
        "noise": content[:first] + rng.bytes(last - first) + content[last:],
        "emptied": b"",
        "exchanged": other.read_bytes(),
    }
    way = str(rng.choice([*damaged, "removed", "a folder", "a loop"]))
    path.unlink()
    if way in damaged:
        path.write_bytes(damaged[way])
    elif way == "a folder":
        path.mkdir()
    elif way == "a loop":
        path.symlink_to(path.name)
    return way


class Results:
    """A file of a results folder, under the commands that show results.

    A command must print and write what it does without the damage, or what it does where the
    fold of the file is not there, with one line that names that fold; or end with one line.
    """

    def __init__(self, folder: Path) -> None:
        self.whole, self.place = folder / "whole", folder / "place"
        stored_run(self.place)
        self._ended(COMMANDS[-1])
        shutil.copytree(self.place, self.whole)
        files = [path for path in self.whole.glob("results/**/*.*") if path.stat().st_size]
        files = [path for path in files if path.suffix != ".png"]  # no command reads a picture
        self.names = sorted(str(path.relative_to(self.whole)) for path in files)
        self.known: dict[tuple[str, str], str] = {}

    def trial(self, rng: np.random.Generator) -> str:
        """Damage a file once and return what went wrong, empty if nothing."""
        command = str(rng.choice(COMMANDS))
        about = "papers" if "reproduce" in command else "TOY"
        name = str(rng.choice([name for name in self.names if about in name]))
        if COPY.fullmatch(name) and "/fold" not in name:
            command = RUN
        alike = [each for each in self.names if each.endswith(name.rpartition("/")[2])]
        self._restore()
        way = damage_file(self.place / name, self.whole / str(rng.choice(alike)), rng)
        status, shown, errors = self._ended(command)
        if status:
            lines = [line for line in errors.splitlines() if "error:" in line]
            fine = status in (1, 2) and len(lines) == 1 and "Traceback" not in errors
        else:
            fold = re.match(r".*/fold\d+", name)
            # a fold without its fit.json is one that is not finished
            told = fold and (fold[0] in errors or (way, name[-8:]) == ("removed", "fit.json"))
            fine = shown == self._without(command) or (
                bool(told) and shown == self._without(command, fold[0])
            )
        return "" if fine else f"{command}: {way} of {name}: {status}: {errors[-300:]}"

    def _restore(self) -> None:
        shutil.rmtree(self.place, ignore_errors=True)
        shutil.copytree(self.whole, self.place)

    def _without(self, command: str, gone: str = "") -> str:
        """Return what a command shows where nothing is damaged and a folder is not there."""
        if (command, gone) not in self.known:
            self._restore()
            if gone:
                shutil.rmtree(self.place / gone)
            self.known[command, gone] = self._ended(command)[1]
        return self.known[command, gone]

    def _ended(self, command: str) -> tuple[int, str, str]:
        """Return a command's status, what it printed and wrote outside of folds, and its errors."""
        where = ["--data-dir", f"{self.place}/data", "--out", f"{self.place}/results"]
        done = CliRunner().invoke(cli, [*command.format(self.place).split(), *where])
        if not isinstance(done.exception, SystemExit | None):
            return -1, "", f"Traceback: {done.exception!r}"
        files = [path for path in sorted(self.place.glob("results/**/*")) if path.is_file()]
        shown = [done.stdout]
        for path in files:
            if "/fold" not in str(path.relative_to(self.place)):
                clock = rb'"seconds": [0-9.e-]+|[0-9a-f]{32}'
                shown.append(f"{path}: {re.sub(clock, b'', path.read_bytes())!r}")
        return done.exit_code, "\n".join(shown), done.stderr


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
