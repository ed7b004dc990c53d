"""Calls in other processes: what they return, how they end, and that they leave nothing."""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from letorbench.processes import in_processes

#: starts two processes that note who they are, then wait
SCRIPT = """
import os, sys, time
from pathlib import Path
from letorbench.processes import in_processes

def wait(folder, number):
    (Path(folder) / str(os.getpid())).touch()
    time.sleep(60)

list(in_processes(wait, sys.argv[1], range(2), 2, print))
"""


def never(item: object, how: str) -> None:
    raise AssertionError(f"{item} {how}")


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


@pytest.mark.parametrize("number", [1, 2, 3])
def test_every_item_has_its_result(number: int) -> None:
    weights = np.arange(5.0)

    def product(common: np.ndarray, item: int) -> tuple[int, float, bool, int]:
        return item, float(common @ np.full(5, item)), common.flags.writeable, os.getpid()

    found = list(in_processes(product, weights, range(7), number, never))
    assert sorted(each[:2] for each in found) == [(i, 10.0 * i) for i in range(7)]
    assert not any(writeable for *_, writeable, _ in found)
    processes = {process for *_, process in found}
    assert len(processes) <= number and os.getpid() not in processes
    assert not any(map(alive, processes))


def test_who_has_nothing_left_to_do_ends_by_itself(tmp_path: Path) -> None:
    """A process that had to be killed would not do what is left for its end."""

    def enlist(folder: Path, item: int) -> None:
        atexit.register((folder / "ended").touch)

    assert list(in_processes(enlist, tmp_path, [0], 1, never)) == [None]
    assert (tmp_path / "ended").exists()


def test_large_arrays_are_shared() -> None:
    """Two large arrays, aligned, lie in one file without a name."""

    def where(common: dict[str, np.ndarray], item: int) -> tuple[float, int, bool]:
        maps = Path("/proc/self/maps").read_text()
        address = common["b"].ctypes.data
        return float(common["b"].sum()), address % 64, "letorbench (deleted)" in maps

    arrays = {"a": np.ones(3, np.int8), "b": np.arange(1e5)}
    (found,) = in_processes(where, arrays, [0], 1, never)
    assert found == (arrays["b"].sum(), 0, True)


def test_an_error_is_raised_here() -> None:
    def fail(common: None, item: int) -> None:
        raise ValueError(f"item {item}")

    with pytest.raises(ValueError, match="item 3"):
        list(in_processes(fail, None, [3], 1, never))


def test_a_lost_process_costs_its_call_alone() -> None:
    def die(common: None, item: int) -> str:
        if item == 1:
            os.kill(os.getpid(), signal.SIGKILL)
        if item == 2:
            os._exit(3)
        return f"item {item}"

    found = list(in_processes(die, None, range(5), 2, lambda item, how: f"{item} {how}"))
    expected = ["1 was ended by SIGKILL", "2 ended with status 3", "item 0", "item 3", "item 4"]
    assert sorted(found) == expected


def test_who_stops_listening_ends_the_processes(tmp_path: Path) -> None:
    """Their blocks are left, so that files that they write are removed."""

    def work(folder: Path, item: int) -> int:
        if item:
            try:
                time.sleep(60)
            finally:
                (folder / "left").touch()
        return os.getpid()

    results = in_processes(work, tmp_path, range(2), 2, never)
    next(results)
    ended(lambda: False, 0.5)
    results.close()
    assert (tmp_path / "left").exists()


@pytest.mark.parametrize("whom", ["all", "the first"])
def test_a_kill_leaves_nothing(tmp_path: Path, whom: str) -> None:
    """No process, no semaphore, no folder: not even where none was left to clear up."""
    places = [Path(tempfile.gettempdir()), Path("/dev/shm")]
    before = [set(os.listdir(place)) for place in places if place.is_dir()]
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, tmp_path], start_new_session=True)
    assert ended(lambda: len(os.listdir(tmp_path)) == 2, 60)
    if whom == "all":
        os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
    assert ended(lambda: not any(alive(int(name)) for name in os.listdir(tmp_path)))
    after = [set(os.listdir(place)) for place in places if place.is_dir()]
    new = [name for was, now in zip(before, after) for name in now - was]
    assert not [name for name in new if "loky" in name or "joblib" in name or "sem." in name]
