"""Who runs the jobs: this process, several here, an executor's workers, or a share of the run."""

import logging
import pickle
import re
import sys
import zlib
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from threading import Lock
from typing import Any

from letorbench.compiled.threads import thread_count
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.experiment.plan import Job
from letorbench.experiment.processes import in_processes
from letorbench.experiment.run import Run, attempt, attempt_away, keep
from letorbench.rankers import plugins
from letorbench.rankers.any_model import AnyModel

#: the seconds without a worker at work after which a run says so, and after which it ends
PATIENCE, LIMIT = 10.0, 3600.0


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
        _check_classes(sent)
        yield from in_processes(run, sent, number, _lost, self.idle)


def _check_classes(sent: Sequence[Job]) -> None:
    """Raise UsageError where a class that goes with its job cannot be sent."""
    from cloudpickle import dumps

    for cls in {job.ranker for job in sent if job.ranker}:
        try:
            dumps(cls)
        except FAILURES as error:
            kind = type(cls.model) if issubclass(cls, AnyModel) else cls
            raise UsageError(
                f"{kind.__name__}: cannot be sent to another process "
                f"({plugins.described(error)}); jobs=1 runs it in this one"
            ) from None


@dataclass(frozen=True)
class Workers:
    """Runs jobs on an executor's workers, which need share no folder with this process.

    A worker reads a data set in the data folder of the same path if the same data are there.
    Otherwise it gets the data of the fold with the job. The files of a fold come back, and this
    process writes them. One job at a time runs in a process, with as many threads as it may use.
    """

    executor: Executor

    def runs(self, jobs: Sequence[Job], force: bool = False) -> Iterator[Run]:
        """Yield what became of the jobs, in the order in which they end; see `Processes`."""
        from cloudpickle import dumps
        from tqdm import tqdm

        brought = plugins.brought()

        def submit(job: Job, sent: Job) -> None:
            place = replace(job.protocol, data_dir=job.protocol.data_dir.resolve())
            try:
                payload = dumps((replace(sent, protocol=place), brought))
                future = self.executor.submit(_away, payload)
            except FAILURES as error:  # it cannot be sent, or the executor is shut down
                future = Future()
                future.set_exception(error)
            running[future] = job

        running: dict[Future[bytes], Job] = {}
        idle = 0.0
        try:
            for job in jobs:
                submit(job, job.sent())
            while running:
                done = wait(running, PATIENCE, return_when=FIRST_COMPLETED).done
                idle = 0.0 if done or _at_work(self.executor) else idle + PATIENCE
                what = f"no worker has taken any of {len(running)} folds for {idle:.0f} s"
                if idle >= LIMIT:
                    raise DataError(what)
                if idle == PATIENCE:
                    hint = "does the cluster have workers, with letorbench and free memory?"
                    tqdm.write(f"letorbench: note: {what}: {hint}", sys.stderr)
                for future in done:
                    job = running.pop(future)
                    try:
                        answer = pickle.loads(future.result())
                    except FAILURES as error:
                        gone = "the executor has cancelled it; is its scheduler gone?"
                        how = gone if future.cancelled() else plugins.described(error)
                        yield Run(job.key, error=f"the executor failed: {how}", exit_status=1)
                        continue
                    if answer is None:
                        submit(job, replace(job.with_data(), ranker=job.sent().ranker))
                    else:
                        run, files = answer
                        yield keep(job, run, files, force)
        finally:
            for future in running:
                future.cancel()


def _at_work(executor: Executor) -> bool:
    """Whether workers have tasks; dask alone can be asked."""
    ask = getattr(getattr(executor, "_client", None), "processing", None)
    try:
        return ask is None or any(ask().values())
    except FAILURES:  # the scheduler is gone: the next look at the tasks says so
        return True


#: one job at a time runs in a process: jobs share its limits of threads
_alone = Lock()


def _away(payload: bytes) -> bytes:
    """Run the job that `Workers` sent."""
    from cloudpickle import dumps

    with _alone:
        job, brought = pickle.loads(payload)
        return dumps(attempt_away(job, brought))


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Give the executor of the dask cluster whose scheduler has that address.

    UsageError says that the package is missing, DataError that no scheduler answers.
    """
    try:
        from distributed import Client

        # what it would print a traceback of is an error of the jobs
        for name in ("distributed", "distributed.client"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
    except ImportError:
        how = "`python -m pip install 'letorbench[distributed]'` installs it"
        raise UsageError(f"--backend dask: needs the package distributed; {how}") from None
    try:
        client = Client(address, timeout=10)
    except (OSError, ValueError, TypeError) as error:
        raise DataError(f"{address}: no dask scheduler there: {error}") from None
    with client:
        yield client.get_executor(pure=False)


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
