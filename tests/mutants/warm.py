"""A warm process that runs tests in forks of itself: each starts with all libraries imported.

The package itself is imported in the fork only, from the scratch copy, broken or not.
"""

from __future__ import annotations

import contextlib
import importlib
import os
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import pytest
from scratch import FOR_TESTS, TREE, environment

#: what importing the package and the tests takes most of its time for
LIBRARIES = (
    "numpy", "scipy.optimize", "scipy.stats", "scipy.special", "numba", "pandas", "click", "tqdm",
    "loky", "matplotlib.pyplot", "hypothesis.strategies", "hypothesis.extra.numpy",
    "sklearn.base", "sklearn.linear_model", "sklearn.svm", "sklearn.utils.estimator_checks",
    "lightgbm", "xgboost", "pytrec_eval", "ir_measures", "coverage", "http.server", "tarfile",
)  # fmt: skip

MEMORY = 12 << 30

#: what `pytest` returns: nothing failed, and there was nothing to run
FINE = (0, 5)


@dataclass(frozen=True)
class Ended:
    """How a run of tests ended: its status, or the signal that stopped it, and what it printed."""

    status: int
    signal: int
    output: str

    @property
    def fine(self) -> bool:
        return self.signal == 0 and self.status in FINE


def warm_up() -> None:
    """Import what tests need, as far as it is installed, and enter the scratch copy."""
    wanted = environment()
    os.environ.clear()
    os.environ.update(wanted)
    for name in LIBRARIES:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    os.chdir(TREE)
    sys.path.insert(0, str(TREE))


def run_tests(words: Sequence[str], seconds: float | None, *plugins: object) -> Ended:
    """Run pytest with files and options in a fork, for at most so many seconds of processor time.

    On a busy machine they take longer: it has six times as long. What the fork started ends with
    it.

    Raises
    ------
    RuntimeError
        This process has imported the package: no fork would see what is broken since.
    """
    if "letorbench" in sys.modules:
        raise RuntimeError("the package is imported already, so its forks would not import it anew")
    quiet = ["-q", "--no-header", "--tb=short", "--disable-warnings", "-p", "no:cacheprovider"]
    return in_fork(lambda: pytest.main([*quiet, *words], plugins=[*plugins]), seconds)


def in_fork(work: Callable[[], int], seconds: float | None) -> Ended:
    """Do work in a fork, and return its status and what it printed."""
    FOR_TESTS.mkdir(exist_ok=True)
    with tempfile.TemporaryFile() as printed:
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            _be_child(work, seconds, printed.fileno())
        try:
            status = _wait(child, None if seconds is None else 6 * seconds + 30)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child, signal.SIGKILL)
            shutil.rmtree(FOR_TESTS, ignore_errors=True)
        printed.seek(0)
        output = printed.read().decode(errors="replace")
    if os.WIFSIGNALED(status):
        return Ended(-1, os.WTERMSIG(status), output)
    return Ended(os.WEXITSTATUS(status), 0, output)


def _be_child(work: Callable[[], int], seconds: float | None, printed: int) -> None:
    """Do the work as a process of its own, and never return."""
    status = 3
    try:
        os.setpgid(0, 0)  # a group, no session: a low priority given to this one stays
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        os.dup2(printed, 1)
        os.dup2(printed, 2)
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if seconds is not None:
            limit = int(seconds) + 1
            resource.setrlimit(resource.RLIMIT_CPU, (limit, limit))
        status = int(work())
        sys.stdout.flush()
    finally:
        os._exit(status)


def _wait(child: int, seconds: float | None) -> int:
    """Return the status of a child; it is killed after so many seconds."""
    end = None if seconds is None else time.monotonic() + seconds
    while end is None or time.monotonic() < end:
        done, status = os.waitpid(child, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    with contextlib.suppress(ProcessLookupError):
        os.kill(child, signal.SIGKILL)
    return os.waitpid(child, 0)[1]
