"""Commands in children of a process that has imported everything: their start takes no time.

Only a process without threads may fork so: the scripts do, with LETORBENCH_THREADS=1, and no test.
"""

from __future__ import annotations

import os
import sys
import tempfile
import threading
import traceback
from collections.abc import Sequence
from contextlib import redirect_stderr, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path


@dataclass
class Forked:
    """A child that runs a command, in a group of its own; `returncode` is set by who waits."""

    pid: int
    returncode: int | None = None


def warm(words: Sequence[str], place: Path) -> None:
    """Run a command here, so that what it imports and compiles is there."""
    from tqdm import tqdm

    tqdm.monitor_interval = 0  # it watches from a thread
    before = os.getcwd()
    os.chdir(place)
    try:
        with open(os.devnull, "w") as nothing:
            with redirect_stdout(nothing), redirect_stderr(nothing):
                status = _run(words)
    finally:
        os.chdir(before)
    if status:
        raise RuntimeError(f"{' '.join(words)}: status {status}")


def fork(words: Sequence[str], place: Path, said: Path) -> Forked:
    """Start a command in a folder; what it prints goes to a file."""
    if threading.active_count() > 1:
        raise RuntimeError(f"a process with threads must not fork: {threading.enumerate()}")
    pid = os.fork()
    with suppress(OSError):
        os.setpgid(pid, 0)  # in both, as nobody knows which is first
    if pid:
        return Forked(pid)
    status = 70
    try:
        os.chdir(place)
        tempfile.tempdir = os.environ["TMPDIR"] = str(place / "tmp")
        handle = os.open(said, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
        os.dup2(handle, 1)
        os.dup2(handle, 2)
        status = _run(words)
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)


def _run(words: Sequence[str]) -> int:
    """Run `letorbench` with these words; return its status."""
    from letorbench.cli import cli

    try:
        cli(list(words), prog_name="letorbench")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(bool(end.code))
    return 0
