"""Full and read-only disks: short versions of `disks.py`, and files that may not grow."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from disks import complaint
from kills import LETORBENCH, RUN, leftovers
from toy_data import write_toy

TESTS = Path(__file__).resolve().parents[1]
ENVIRONMENT = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS.parent), str(TESTS)])}


@pytest.mark.parametrize("command", [RUN, (*LETORBENCH, "datasets", "import", "other")])
@pytest.mark.parametrize("limit", [0, 2000, 9000])
def test_files_that_may_not_grow(tmp_path: Path, command: tuple[str, ...], limit: int) -> None:
    """The error names the file, and what is there is whole."""
    write_toy(tmp_path / "data")
    write_toy(tmp_path / "other" / "MQ2008", "MQ2008")
    done = subprocess.run(
        command, cwd=tmp_path, capture_output=True, text=True, env=ENVIRONMENT,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)),
    )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert ": cannot be written: File too large" in done.stderr
    assert not leftovers(tmp_path) and not (tmp_path / "data" / "MQ2008").exists()


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_full_disk_behind_the_output(unbuffered: str) -> None:
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [*LETORBENCH, "datasets", "list"], stdout=full, stderr=subprocess.PIPE, text=True,
            env=ENVIRONMENT | {"PYTHONUNBUFFERED": unbuffered},
        )  # fmt: skip
    assert done.returncode == 1 and done.stderr.count("\n") == 1
    assert "the output cannot be written: No space left on device" in done.stderr


def test_full_and_read_only_disks() -> None:
    able = subprocess.run(
        ["unshare", "-m", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True
    )
    if able.returncode:
        pytest.skip("needs the right to mount a disk in memory")
    words = ["unshare", "-m", sys.executable, str(TESTS / "hostile" / "disks.py")]
    words += ["--sizes", "2", "--vanish", "1", "--only", "import"]
    done = subprocess.run(words, capture_output=True, text=True, env=ENVIRONMENT)
    assert done.returncode == 0, done.stderr
    assert "{'refused': 2, 'done': 0, 'vanished': 1}; wrong 0 {}" in done.stdout


def test_what_counts_as_a_clean_end() -> None:
    """The harness itself: a traceback, two lines, or a line without a reason are complaints."""

    def ended(status: int, said: str) -> str:
        return complaint(subprocess.CompletedProcess([], status, "", said))

    assert not ended(0, "") and not ended(1, "letorbench: error: a/b: No space left on device\n")
    assert ended(1, "Traceback ...\nletorbench: error: a/b: No space left on device\n")
    assert ended(1, "letorbench: error: None: No space left on device\n")
    assert ended(1, "letorbench: error: a\nletorbench: error: No such file\n")
    assert ended(-9, "") and ended(1, "letorbench: error: what\n")
