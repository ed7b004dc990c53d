"""A dask scheduler and its workers, each a process of this machine that talks TCP.

The file is also their command: it is dask's, and ends when the process that started it has ended.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
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
        self.file = folder / "scheduler.json"
        self.processes: list[subprocess.Popen] = []
        self.scheduler = self._start(
            "scheduler", "--port", "0", "--host", "127.0.0.1", "--no-jupyter",
            "--scheduler-file", str(self.file),
        )  # fmt: skip
        wait_for(self._is_listening)
        self.address = json.loads(self.file.read_text())["address"]

    def add_worker(
        self, threads: int = 1, nanny: bool = False, **environment: str
    ) -> subprocess.Popen:
        """Start a worker; it is there a second or two later."""
        return self._start(
            "worker", self.address, "--nthreads", str(threads), "--memory-limit", "0",
            "--nanny" if nanny else "--no-nanny", "--local-directory", str(self.folder),
            environment=environment,
        )  # fmt: skip

    def wait_for_workers(self, number: int) -> None:
        """Wait until so many workers are known to the scheduler."""
        from distributed import Client

        with Client(self.address, set_as_default=False) as client:
            client.wait_for_workers(number, timeout=600)

    def stop(self) -> None:
        """End every process, those that a nanny started too."""
        for process in self.processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            process.wait()
            process.stdin.close()

    def _start(self, *words: str, environment: dict[str, str] | None = None) -> subprocess.Popen:
        path = {"PYTHONPATH": os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])}
        process = subprocess.Popen(
            [sys.executable, __file__, words[0], "--no-dashboard", *words[1:]],
            env={**os.environ, **path, **(environment or {})}, cwd=self.folder,
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        self.processes.append(process)
        return process

    def _is_listening(self) -> bool:
        try:
            return bool(json.loads(self.file.read_text())["address"])
        except (OSError, ValueError, KeyError):
            return False


def end_with_parent() -> None:
    """Wait for the end of stdin, a pipe that no other process writes to; end with all children."""
    sys.stdin.buffer.read()
    os.killpg(0, signal.SIGKILL)


if __name__ == "__main__":
    from dask.cli import run_cli

    threading.Thread(target=end_with_parent, daemon=True).start()
    run_cli()
