"""Disks that are full, may only be read, or vanish: one line, no half file, and the same bytes.

``PYTHONPATH=.:tests unshare -m python tests/hostile/disks.py --sizes 40`` runs each command on a
small disk in memory that has room for a part of what it writes, then with enough room, and compares
with what a run without trouble leaves. `--vanish` unmounts the disk while a command works on it.
It must run as root, in a mount namespace of its own.
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
from kills import (
    LETORBENCH,
    RUN,
    Command,
    Reference,
    address_of,
    commands,
    contents,
    leftovers,
    prepare,
    served,
)

PAGE = 4096
#: a paper's part that takes no time
EXAMPLE = (*LETORBENCH, "reproduce", "consistency-2011", "--part", "example")
ENOUGH = "size=1g"
#: of mount(2) and umount2(2)
READ_ONLY, REMOUNT, DETACH = 1, 32, 2
SAID = ("No space left on device", "Read-only file system", "No such file", "no such", "bytes free")


def mount(place: Path, size: str = ENOUGH, flags: int = 0) -> None:
    _called("mount", b"tmpfs", bytes(place), b"tmpfs", flags, size.encode())


def remount(place: Path, size: str = ENOUGH, flags: int = 0) -> None:
    mount(place, size, flags | REMOUNT)


def unmount(place: Path) -> None:
    _called("umount2", bytes(place), DETACH)


def _called(name: str, *arguments: object) -> None:
    libc = ctypes.CDLL(None, use_errno=True)
    if getattr(libc, name)(*arguments):
        raise OSError(ctypes.get_errno(), f"{name}: {os.strerror(ctypes.get_errno())}")


def used(place: Path) -> int:
    found = os.statvfs(place)
    return (found.f_blocks - found.f_bfree) * found.f_frsize


def complaint(done: subprocess.CompletedProcess) -> str:
    """Return what is wrong with how a command ended; empty where it ended as it should."""
    lines = [line for line in done.stderr.splitlines() if "error:" in line]
    if done.returncode == 0:
        return ""
    if "Traceback" in done.stderr or done.returncode != 1 or len(lines) != 1:
        return f"status {done.returncode}: {done.stderr[-600:]}"
    if not any(each in lines[0] for each in SAID) or "None" in lines[0]:
        return f"says {lines[0]}"
    return ""


def start(place: Path, command: Command) -> subprocess.CompletedProcess:
    return subprocess.run(command.words, cwd=place, capture_output=True, text=True)


def reference(work: Path, name: str, command: Command) -> tuple[Path, Reference, int]:
    """Return the folder before the command, what it leaves, and the bytes that it needs."""
    before, place = work / f"before {name}", work / f"after {name}"
    prepare(before, command)
    place.mkdir()
    mount(place)
    shutil.copytree(before, place, dirs_exist_ok=True)
    had, begun = used(place), time.monotonic()
    done = start(place, command)
    assert done.returncode == 0, done.stderr
    found = Reference(contents(place, command), time.monotonic() - begun)
    needed = used(place) - had
    unmount(place)
    return before, found, needed


def half_files(place: Path, command: Command, expected: Reference) -> list[str]:
    """Return the files that are not as a run without trouble leaves them."""
    tables = ("per_query.csv", "folds.csv", "summary.csv")  # whole with fewer rows, for fewer folds
    return [
        name
        for name, content in contents(place, command).items()
        if expected.files.get(name) != content and Path(name).name not in tables
    ]


def trouble(
    place: Path, name: str, command: Command, expected: Reference, option: str
) -> Counter[str]:
    """Run with an option of the mount, then without; return what is wrong."""
    before = {str(p): p.stat().st_ino for p in place.rglob("*")}
    remount(place, *((ENOUGH, READ_ONLY) if option == "ro" else (option,)))
    done = start(place, command)
    wrong = Counter({f"{name} {option[:2]}: {complaint(done)}": int(bool(complaint(done)))})
    remount(place)
    if option == "ro" and before != {str(p): p.stat().st_ino for p in place.rglob("*")}:
        wrong[f"{name} ro: changed"] += 1
    for half in half_files(place, command, expected):
        wrong[f"{name} {option[:2]}: half file {half}"] += 1
    for each in leftovers(place):
        wrong[f"{name} {option[:2]}: left over {each}"] += 1
    again = start(place, command)
    if again.returncode or contents(place, command) != expected.files or leftovers(place):
        wrong[f"{name}: another end {again.stderr[-300:]} {leftovers(place)}"] += 1
    return wrong + Counter({"refused": done.returncode != 0, "done": done.returncode == 0})


def vanished(
    work: Path, name: str, command: Command, expected: Reference, before: Path, after: float
) -> Counter[str]:
    """Unmount the disk with the data and the results after some seconds."""
    place = work / "vanishing"
    place.mkdir(exist_ok=True)
    mount(place, flags=READ_ONLY)
    mount(place)
    shutil.copytree(before, place, dirs_exist_ok=True)
    words = list(command.words)
    words += ["--data-dir", str(place / "data")]
    words += ["--out", str(place / "results")] if "run" in words else []
    words = [str(before / word) if word == "other" else word for word in words]
    process = subprocess.Popen(
        words, cwd=work, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    time.sleep(after)
    unmount(place)
    out, said = process.communicate()
    unmount(place)
    done = subprocess.CompletedProcess(words, process.returncode, out, said)
    wrong = complaint(done)
    return Counter({f"{name} vanished: {wrong}": int(bool(wrong)), "vanished": 1})


def disks(sizes: int, vanish: int, only: tuple[str, ...] = (), seed: int = 0) -> Counter[str]:
    """Return how often commands were refused and done, and what was wrong."""
    rng = np.random.default_rng(seed)
    found: Counter[str] = Counter()
    work = Path(tempfile.mkdtemp())
    try:
        with served(work / "served") as server:
            known = {
                k: v
                for k, v in commands(address_of(server), RUN, EXAMPLE).items()
                if not only or k in only
            }
            for name, command in known.items():
                before, expected, needed = reference(work, name, command)
                place = work / f"disk {name}"
                place.mkdir()
                for number in range(sizes):
                    mount(place)
                    shutil.copytree(before, place, dirs_exist_ok=True)
                    room = int(rng.integers(needed // PAGE + 1)) * PAGE
                    option = "ro" if number == 0 else f"size={max(used(place) + room, PAGE)}"
                    found += trouble(place, name, command, expected, option)
                    unmount(place)
                if name not in ("reproduce", "report"):
                    for _ in range(vanish):
                        after = float(rng.uniform(0.3, 1.0)) * expected.seconds
                        found += vanished(work, name, command, expected, before, after)
    finally:
        shutil.rmtree(work, ignore_errors=True)
    return found


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, default=40)
    parser.add_argument("--vanish", type=int, default=10)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if os.geteuid():
        sys.exit("must run as root: it mounts disks")
    found = disks(options.sizes, options.vanish, tuple(options.only), options.seed)
    fine = {each: found.pop(each, 0) for each in ("refused", "done", "vanished")}
    print(f"{fine}; wrong {sum(found.values())} {dict(found)}")
