"""Who runs the jobs: this process, several on this machine, or one share of the run here."""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from letorbench.errors import UsageError
from letorbench.experiment.plan import Job, Protocol, Task
from letorbench.experiment.task import Outcome, attempt
from letorbench.processes import in_processes
from letorbench.rankers import plugins
from letorbench.threads import thread_count


@dataclass(frozen=True)
class Processes:
    """Runs jobs in this process, or in `number` others on this machine.

    idle: others that wait for the next jobs, as those of these jobs will; None to end them.
    """

    number: int = 1
    idle: list[Any] | None = None

    def outcomes(self, jobs: Sequence[Job], protocol: Protocol) -> Iterator[Outcome]:
        """Yield what became of the jobs, in the order in which they end."""
        number = min(self.number, len(jobs))
        if number <= 1:
            for job in jobs:
                yield attempt(job, protocol)
            return
        threads = max(1, thread_count() // number)
        run = partial(attempt, protocol=protocol, plugin_files=plugins.files(), threads=threads)
        sent = [job.sent() for job in jobs]
        yield from in_processes(run, sent, number, _lost, self.idle)


def _lost(job: Job, how: str) -> Outcome:
    """Return the outcome of a job whose process died: the system kills what needs too much."""
    guess = " (too little memory?)" if "SIGKILL" in how else ""
    return Outcome(job.task, error=f"its process {how}{guess}", exit_status=1)


@dataclass(frozen=True)
class Shard:
    """One of several equal shares of a run, for machines that share nothing but files.

    A task belongs to a share by its own names and numbers alone. So the shares never overlap and
    miss nothing, also if one machine lacks an algorithm's package. The folds and repeats of an
    algorithm go round the shares, so that each has its part of a slow algorithm. They begin at
    different shares for different algorithms, so that no share has all first folds.
    """

    number: int
    of: int

    def has(self, task: Task) -> bool:
        """Return whether a task belongs to the share."""
        first = zlib.crc32(f"{task.dataset}/{task.algo}".encode())
        return (first + task.fold + task.repeat) % self.of == self.number - 1


def shard_of(text: str) -> Shard:
    """Read "2/3"; UsageError for anything else.

    Examples
    --------
    >>> shard_of("2/3")
    Shard(number=2, of=3)
    """
    match = re.fullmatch(r"([1-9][0-9]{0,8})/([1-9][0-9]{0,8})", text, re.ASCII)
    if match is None or int(match[1]) > int(match[2]):
        raise UsageError(f"shard {text!r}: expected a form like 2/3, the second share of three")
    return Shard(int(match[1]), int(match[2]))
