"""A dask scheduler and its workers, each a process of this machine that talks TCP."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def wait_for(condition: Callable[[], bool], seconds: float = 600.0) -> None:
    """Wait until a condition holds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited too long"
        time.sleep(0.02)


class DaskCluster:
    """A scheduler in a folder, to which workers are added; `stop` ends all of them."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.processes: list[subprocess.Popen] = []
        file = folder / "scheduler.json"
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-jupyter",
            "--scheduler-file", str(file),
        )  # fmt: skip
        wait_for(lambda: file.exists() and file.read_text().endswith("}"))
        self.address = json.loads(file.read_text())["address"]

    def add_worker(
        self, threads: int = 1, nanny: bool = False, **environment: str
    ) -> subprocess.Popen:
        """Start a worker; it is there a second or two later."""
        return self._start(
            "worker", self.address, "--nthreads", str(threads), "--memory-limit", "0",
            "--nanny" if nanny else "--no-nanny", "--local-directory", str(self.folder),
            "--death-timeout", "60", **environment,
        )  # fmt: skip

    def wait_for_workers(self, number: int) -> None:
        """Wait until so many workers are known to the scheduler."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=600)

    def stop(self) -> None:
        """End every process, those that a nanny started too."""
        for process in self.processes:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()

    def _start(self, *words: str, **environment: str) -> subprocess.Popen:
        path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
        self.processes.append(subprocess.Popen(
            [sys.executable, "-m", "dask", words[0], "--no-dashboard", *words[1:]],
            env=os.environ | {"PYTHONPATH": path} | environment, cwd=self.folder,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
        ))  # fmt: skip
        return self.processes[-1]
