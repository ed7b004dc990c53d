"""Who runs the cells of a run: this process, several on this machine, or a cluster's workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol as Interface

from letorbench.choices import require_choice
from letorbench.datasets.queryset import Benchmark
from letorbench.errors import UsageError
from letorbench.experiment.plan import Protocol, Task
from letorbench.experiment.task import Outcome, Worker, attempt, is_kept
from letorbench.processes import in_processes
from letorbench.rankers import plugins, ranker
from letorbench.rankers.base import Ranker
from letorbench.threads import thread_count

#: the backends by name, and what each is
BACKENDS = {
    "local": "processes on this machine",
    "dask": "the workers of a dask scheduler",
}


#: what `attempt` takes
_Item = tuple[Task, Worker, Benchmark | None, type[Ranker] | None]


@dataclass(frozen=True, eq=False)
class Job:
    """A task with its data, and with what another process cannot find by name.

    Attributes
    ----------
    task : Task
        What to run.
    benchmark : Benchmark
        Its data set, opened.
    on_disk : bool
        Whether the data set can be opened by its name.
    ranker : type of Ranker, optional
        The ranker, where its name does not lead to it.
    """

    task: Task
    benchmark: Benchmark
    on_disk: bool
    ranker: type[Ranker] | None


class Backend(Interface):
    """Runs jobs somewhere; the results do not depend on where."""

    def outcomes(self, jobs: Sequence[Job], protocol: Protocol) -> Iterator[Outcome]:
        """Yield what became of the jobs, in the order in which they end."""


@dataclass(frozen=True)
class Processes:
    """Runs jobs in this process, or in `number` others on this machine."""

    number: int = 1

    def outcomes(self, jobs: Sequence[Job], protocol: Protocol) -> Iterator[Outcome]:
        """Yield what became of the jobs, in the order in which they end.

        No process is started for what is stored already.
        """
        waiting = [job for job in jobs if self.number > 1 and not _is_kept(job, protocol)]
        number = min(self.number, len(waiting))
        apart = waiting if number > 1 else []
        for job in [job for job in jobs if job not in apart]:
            yield attempt(job.task, Worker(protocol), job.benchmark, job.ranker)
        if not apart:
            return
        worker = Worker(protocol, plugins.files(), max(1, thread_count() // number))
        # a process opens by its name what is on disk
        items = [
            (job.task, worker, None if job.on_disk else job.benchmark, job.ranker) for job in apart
        ]
        yield from in_processes(_attempted, items, number, _lost)


def _is_kept(job: Job, protocol: Protocol) -> bool:
    return is_kept(job.task, protocol, job.benchmark, job.ranker or ranker(job.task.algo))


def _attempted(item: _Item) -> Outcome:
    return attempt(*item)


def _lost(item: _Item, how: str) -> Outcome:
    """Return the outcome of a task whose process died: the system kills what needs too much."""
    guess = " (too little memory?)" if "SIGKILL" in how else ""
    return Outcome(item[0], error=f"its process {how}{guess}", exit_status=1)


def backend(name: str, jobs: int, scheduler: str | None) -> Backend:
    """Return the backend of that name.

    Parameters
    ----------
    name : str
        A name of `BACKENDS`.
    jobs : int
        The number of processes of "local".
    scheduler : str, optional
        The address of the scheduler of "dask".

    Raises
    ------
    UsageError
        The name does not exist, an option is of another backend, or a package is missing.
    """
    if require_choice(name, list(BACKENDS), "backend") == "local":
        if scheduler is not None:
            raise UsageError(f"scheduler {scheduler!r}: expected backend dask beside it")
        return Processes(jobs)
    if scheduler is None:
        raise UsageError("backend dask: expected a scheduler's address, as tcp://HOST:8786")
    if jobs != 1:
        raise UsageError(
            f"jobs {jobs}: the backend dask has as many processes as its scheduler has workers"
        )
    from letorbench.experiment.cluster import Cluster

    return Cluster(scheduler)
