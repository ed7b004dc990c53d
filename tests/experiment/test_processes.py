"""Calls in other processes: what they return, and how they end."""

import errno
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from letorbench.errors import DataError
from letorbench.experiment.backends import in_processes

#: starts two processes that note who they are, then wait
SCRIPT = """
import os, sys, time
from pathlib import Path
from typing import Any
from letorbench.experiment.backends import in_processes

def wait(folder):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

list(in_processes(wait, [sys.argv[1]] * 2, 2, print))
"""


def never(item: object, how: str) -> None:
    raise AssertionError(f"{item} is lost")


def ended(call: Callable[[], bool], seconds: float = 10.0) -> bool:
    """Whether something comes true in time."""
    end = time.monotonic() + seconds
    while not call():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def alive(process: int) -> bool:
    """Whether a process is there that is not a zombie."""
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def test_every_item_has_its_result_and_an_error_is_raised_here() -> None:
    def where(item: int) -> tuple[int, int]:
        if item > 9:
            raise ValueError(f"item {item}")
        return item, os.getpid()

    found = list(in_processes(where, range(7), 2, never))
    assert sorted(item for item, _ in found) == list(range(7))
    numbers = {process for _, process in found}
    assert len(numbers) <= 2 and os.getpid() not in numbers
    assert ended(lambda: not any(map(alive, numbers)))
    idle: list[Any] = []
    first = {process for _, process in in_processes(where, range(4), 2, never, idle)}
    assert {process for _, process in in_processes(where, range(4), 2, never, idle)} <= first
    for pool in idle:
        pool.shutdown()
    assert ended(lambda: not any(map(alive, first)))
    with pytest.raises(ValueError, match="item 13"):
        list(in_processes(where, [13], 1, never))


def test_a_lost_process_costs_its_call_alone() -> None:
    def die(item: int) -> str:
        if item == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 2:
            os._exit(3)
        return f"item {item}"

    found = list(in_processes(die, range(5), 2, lambda item, how: f"{item} {how}"))
    ends = ["1 was ended by SIGKILL", "2 ended with status 3"]
    assert sorted(found) == [*ends, "item 0", "item 3", "item 4"]


#: a script's function, from a module beside it, called twice in other processes
BESIDE = """
import sys
from helper import where
from letorbench.experiment.backends import in_processes
print(*in_processes(where, [1, 2], 2, print))
"""


def test_the_current_folder_is_not_imported_from_and_the_scripts_is(tmp_path: Path) -> None:
    """Whatever Python files the current folder has, here one of each name: none is run."""
    (tmp_path / "script.py").write_text(BESIDE)
    (tmp_path / "helper.py").write_text("import os\ndef where(n): return n, os.getcwd()")
    (tmp_path / "here").mkdir()
    for name in {*sys.stdlib_module_names, "letorbench", "cloudpickle", "loky", "psutil", "numpy"}:
        (tmp_path / "here" / f"{name}.py").write_text(f"raise SystemExit('{name} was run')")
    done = subprocess.run(
        [sys.executable, tmp_path / "script.py"], cwd=tmp_path / "here", text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    calls = [f"({item}, '{tmp_path / 'here'}')" for item in (1, 2)]
    assert done.stdout.strip() in (" ".join(calls), " ".join(calls[::-1]))


@pytest.mark.parametrize("before", [None, "", "1"])
def test_what_a_process_starts_has_the_environment_of_this_one(before, monkeypatch) -> None:
    monkeypatch.delenv("PYTHONSAFEPATH", raising=False)
    if before is not None:
        monkeypatch.setenv("PYTHONSAFEPATH", before)
    assert list(in_processes(os.getenv, ["PYTHONSAFEPATH"], 1, never)) == [before]
    assert os.environ.get("PYTHONSAFEPATH") == before


@pytest.mark.parametrize("missing", [errno.EMFILE, errno.ENOENT, errno.ENOSPC, errno.EROFS])
def test_what_keeps_a_process_from_starting_is_one_line(missing: int, monkeypatch) -> None:
    """No descriptor is left, or /dev/shm is missing, full or read-only."""
    before = dict(os.environ)
    no = OSError(missing, os.strerror(missing))
    monkeypatch.setattr("loky.ProcessPoolExecutor", Mock(side_effect=no))
    with pytest.raises(DataError, match=re.escape(os.strerror(missing))):
        list(in_processes(str, [3], 2, never))
    assert dict(os.environ) == before


def test_who_stops_listening_ends_the_processes(tmp_path: Path) -> None:
    def work(item: int) -> None:
        if item:
            (tmp_path / str(os.getpid())).touch()
            time.sleep(60)

    results = in_processes(work, [0, 1], 2, never)
    next(results)
    assert ended(lambda: bool(os.listdir(tmp_path)))
    results.close()
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_the_end_of_a_run_ends_its_processes(tmp_path: Path, how: signal.Signals) -> None:
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path], start_new_session=True)
    assert ended(lambda: len(os.listdir(tmp_path)) == 2, 60)
    process.send_signal(how)
    process.wait()
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))
