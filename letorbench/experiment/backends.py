"""Who runs the jobs: this process, several on this machine, or one share of the run here."""

import re
import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from letorbench.errors import UsageError
from letorbench.experiment.plan import Job
from letorbench.experiment.run import Run, attempt
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

    def runs(self, jobs: Sequence[Job], force: bool = False) -> Iterator[Run]:
        """Yield what became of the jobs, in the order in which they end.

        `force` runs again what is stored.
        """
        number = min(self.number, len(jobs))
        if number <= 1:
            for job in jobs:
                yield attempt(job, force)
            return
        threads = max(1, thread_count() // number)
        run = partial(attempt, force=force, brought=plugins.brought(), threads=threads)
        sent = [job.sent() for job in jobs]
        yield from in_processes(run, sent, number, _lost, self.idle)


def _lost(job: Job, how: str) -> Run:
    """Return the run of a job whose process died: the system kills what needs too much."""
    guess = " (too little memory?)" if "SIGKILL" in how else ""
    return Run(job.key, error=f"its process {how}{guess}", exit_status=1)


@dataclass(frozen=True)
class Shard:
    """One of several equal shares of a run, for machines that share nothing but files.

    A job belongs to a share by its own names and numbers alone. So the shares never overlap and
    miss nothing, also if one machine lacks an algorithm's package. The folds and repeats of an
    algorithm go round the shares, so that each has its part of a slow algorithm. They begin at
    different shares for different algorithms, so that no share has all first folds.
    """

    number: int
    of: int

    def has(self, job: Job) -> bool:
        """Return whether a job belongs to the share."""
        first = zlib.crc32(f"{job.key.dataset}/{job.key.algo}".encode())
        return (first + job.key.fold + job.key.repeat) % self.of == self.number - 1


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
