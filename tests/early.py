"""Processes that take long and that tests only wait for: they start with the session.

They run on the other core while the tests before theirs run. A test asks for it by the mark
`early(program, environment, ...)`, one dictionary for each process, and takes what they print from
the fixture `early`. `{folder}` in a value is a new folder that the session removes.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path


class Early:
    """The processes of one test."""

    def __init__(self, stack: ExitStack, program: str, *environments: Mapping[str, str]) -> None:
        self.folder = stack.enter_context(tempfile.TemporaryDirectory())
        self.command = [sys.executable, "-W", "ignore", "-c", program, str(Path(__file__).parent)]
        self.environments = [
            os.environ | {name: value.format(folder=self.folder) for name, value in each.items()}
            for each in environments
        ]
        self._running = [stack.enter_context(self._started(each)) for each in self.environments]

    @contextmanager
    def _started(self, environment: Mapping[str, str]) -> Iterator[subprocess.Popen]:
        pipe = subprocess.PIPE
        process = subprocess.Popen(self.command, env=environment, stdout=pipe, stderr=pipe)
        with process:
            try:
                yield process
            finally:
                process.kill()

    def printed(self) -> list[str]:
        """Wait for the processes and return what each printed."""
        return [_whole(process) for process in self._running]

    def again(self) -> str:
        """Run the first process once more, and return what it prints."""
        done = subprocess.run(
            self.command, env=self.environments[0], capture_output=True, text=True, check=True
        )
        return done.stdout


def _whole(process: subprocess.Popen) -> str:
    printed, errors = process.communicate()
    assert process.returncode == 0, errors.decode()
    return printed.decode()
