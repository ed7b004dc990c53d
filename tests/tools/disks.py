"""Disks that are full, may only be read, or vanish: one line, no half file, and the same bytes.

`make disks` runs each command on a small disk in memory that has room for a part of what it
writes, then with enough room, and compares with what a run without trouble leaves. `--vanish`
unmounts the disk while a command works on it. It must run as root, in a mount namespace of its
own (`unshare -m`).
"""

from __future__ import annotations

import argparse
import ctypes
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
from kills import ENVIRONMENT, EXAMPLE, Command, commands, contents, leftovers, prepare, served

PAGE = 4096
ENOUGH = "size=1g"
#: of mount(2) and umount2(2)
READ_ONLY, REMOUNT, DETACH = 1, 32, 2
REASONS = (
    "No space left on device", "Read-only file system", "No such file", "no such", "bytes free",
)  # fmt: skip
#: these have fewer rows where folds are missing
TABLES = ("per_query.csv", "folds.csv", "summary.csv")


def mount(place: Path, size: str = ENOUGH, flags: int = 0) -> None:
    _call("mount", b"tmpfs", bytes(place), b"tmpfs", flags, size.encode())


def unmount(place: Path) -> None:
    _call("umount2", bytes(place), DETACH)


def _call(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


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


def start(place: Path, words: tuple[str, ...]) -> subprocess.Popen:
    return subprocess.Popen(
        words, cwd=place, env=ENVIRONMENT, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
        text=True,
    )  # fmt: skip


def run(place: Path, words: tuple[str, ...]) -> tuple[int, str]:
    """Run a command; return its status and its errors."""
    process = start(place, words)
    errors = process.communicate()[1]
    return process.returncode, errors


def trouble(
    place: Path, name: str, command: Command, expected: dict[str, object], option: str
) -> Counter[str]:
    """Run with an option of the mount, then without; return what is wrong."""
    before = {str(path): path.stat().st_ino for path in place.rglob("*")}
    read_only = option == "ro"
    mount(place, ENOUGH if read_only else option, REMOUNT | (READ_ONLY if read_only else 0))
    status, errors = run(place, command.words)
    mount(place, flags=REMOUNT)
    wrong = [complaint(status, errors)]
    if read_only and before != {str(path): path.stat().st_ino for path in place.rglob("*")}:
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


def vanished(work: Path, name: str, command: Command, before: Path, after: float) -> Counter[str]:
    """Unmount the disk with the data and the results after some seconds."""
    place = work / "vanishing"
    place.mkdir(exist_ok=True)
    mount(place, flags=READ_ONLY)
    mount(place)
    shutil.copytree(before, place, dirs_exist_ok=True)
    words = [str(before / word) if word == "other" else word for word in command.words]
    words += ["--data-dir", str(place / "data")]
    words += ["--out", str(place / "results")] if "run" in words else []
    process = start(work, tuple(words))
    time.sleep(after)
    unmount(place)
    errors = process.communicate()[1]
    unmount(place)
    wrong = complaint(process.returncode, errors)
    return Counter(["vanished", *([f"{name} vanished: {wrong}"] if wrong else [])])


def disks(sizes: int, vanish: int, only: tuple[str, ...] = (), seed: int = 0) -> Counter[str]:
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
                had, begun = used(place), time.monotonic()
                if number < 0:
                    assert run(place, command.words)[0] == 0, name
                    expected, seconds = contents(place, command), time.monotonic() - begun
                    needed = used(place) - had
                else:
                    room = int(rng.integers(needed // PAGE + 1)) * PAGE
                    option = "ro" if number == 0 else f"size={max(had + room, PAGE)}"
                    result += trouble(place, name, command, expected, option)
                unmount(place)
            for _ in range(vanish * (name not in ("reproduce", "report"))):
                after = float(rng.uniform(0.3, 1.0)) * seconds
                result += vanished(work, name, command, before, after)
    return result


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sizes", type=int, default=40)
    parser.add_argument("--vanish", type=int, default=10)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("must run as root: it mounts disks")
    result = disks(options.sizes, options.vanish, tuple(options.only), options.seed)
    fine = {each: result.pop(each, 0) for each in ("refused", "done", "vanished")}
    print(f"{fine}; wrong {sum(result.values())} {dict(result)}")
