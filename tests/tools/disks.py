"""Disks that are full or may only be read: one line, no half file, and the same bytes.

`make disks` runs each command on a small disk in memory that has room for a part of what it
writes, then with enough room, and compares with what a run without trouble leaves. It must run as
root, in a mount namespace of its own (`unshare -m`).
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

import numpy as np
from kills import ENVIRONMENT, EXAMPLE, Command, commands, contents, leftovers, prepare, served

PAGE = 4096
REASONS = (
    "No space left on device", "Read-only file system", "No such file", "no such", "bytes free",
)  # fmt: skip
#: these have fewer rows where folds are missing
TABLES = ("per_query.csv", "folds.csv", "summary.csv")


def mount(place: Path, options: str = "size=1g") -> None:
    subprocess.run(["mount", "-t", "tmpfs", "-o", options, "tmpfs", place], check=True)


def unmount(place: Path) -> None:
    subprocess.run(["umount", "--lazy", place], check=True)


def used(place: Path) -> int:
    disk = os.statvfs(place)
    return (disk.f_blocks - disk.f_bfree) * disk.f_frsize


def complaint(status: int, errors: str) -> str:
    """Return what is wrong with how a command ended; empty where it ended as it should."""
    lines = [line for line in errors.splitlines() if "error:" in line]
    if status == 0:
        return ""
    if "Traceback" in errors or status != 1 or len(lines) != 1:
        return f"status {status}: {errors[-600:]}"
    if not any(each in lines[0] for each in REASONS) or "None" in lines[0]:
        return f"says {lines[0]}"
    return ""


def run(place: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Run a command; return its status and its errors."""
    done = subprocess.run(words, cwd=place, env=ENVIRONMENT, capture_output=True, text=True)
    return done.returncode, done.stderr


def trouble(
    place: Path, name: str, command: Command, expected: dict[str, object], option: str
) -> Counter[str]:
    """Run with an option of the mount, then without; return what is wrong."""
    before = {str(path): path.stat().st_ino for path in place.rglob("*")}
    mount(place, f"remount,{option}")
    status, errors = run(place, command.words)
    mount(place, "remount,rw,size=1g")
    wrong = [complaint(status, errors)]
    if option == "ro" and before != {str(path): path.stat().st_ino for path in place.rglob("*")}:
        wrong.append("changed")
    for file, content in contents(place, command).items():
        if expected.get(file) != content and Path(file).name not in TABLES:
            wrong.append(f"half file {file}")
    wrong += [f"left over {each}" for each in leftovers(place)]
    again, errors = run(place, command.words)
    if again or contents(place, command) != expected or leftovers(place):
        wrong.append(f"another end {errors[-300:]} {leftovers(place)}")
    result = Counter(f"{name} {option[:2]}: {each}" for each in wrong if each)
    return result + Counter(["refused" if status else "done"])


def disks(sizes: int, only: tuple[str, ...], seed: int) -> Counter[str]:
    """Return how often commands were refused and done, and what was wrong."""
    rng = np.random.default_rng(seed)
    result: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder, served(Path(folder) / "served") as address:
        work = Path(folder)
        for name, command in commands(address, EXAMPLE).items():
            if only and name not in only:
                continue
            before, place = work / f"before {name}", work / f"disk {name}"
            prepare(before, command)
            place.mkdir()
            for number in range(-1, sizes):  # the first is without trouble
                mount(place)
                shutil.copytree(before, place, dirs_exist_ok=True)
                had = used(place)
                if number < 0:
                    assert run(place, command.words)[0] == 0, name
                    expected, needed = contents(place, command), used(place) - had
                else:
                    room = int(rng.integers(needed // PAGE + 1)) * PAGE
                    option = "ro" if number == 0 else f"size={max(had + room, PAGE)}"
                    result += trouble(place, name, command, expected, option)
                unmount(place)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, default=40)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("must run as root: it mounts disks")
    result = disks(options.sizes, tuple(options.only), options.seed)
    fine = {each: result.pop(each, 0) for each in ("refused", "done")}
    print(f"{fine}; wrong {sum(result.values())} {dict(result)}")
