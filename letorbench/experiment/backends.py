"""Where jobs run: in this process, in several here, or on an executor's workers; and shards."""

import logging
import os
import pickle
import re
import signal
import sys
import threading
import time
import zlib
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeVar

from letorbench.compiled.threads import thread_count
from letorbench.errors import FAILURES, DataError, UsageError
from letorbench.experiment.job import JobResult, run_job, run_job_remotely, store_remote_result
from letorbench.experiment.plan import Job
from letorbench.rankers import plugins
from letorbench.rankers.any_model import AnyModel

Item = TypeVar("Item")
Result = TypeVar("Result")
#: the seconds without a worker at work after which a run prints a note, and after which it ends
PATIENCE, LIMIT = 10.0, 3600.0
#: the variable that keeps Python from importing from the current folder
SAFE_PATH = "PYTHONSAFEPATH"


@dataclass(frozen=True)
class Processes:
    """Runs jobs in this process, or in `number` others on this machine."""

    number: int = 1
    #: processes that wait for jobs, to which those of these jobs are added; None to end them
    idle: list[Any] | None = None

    def runs(self, jobs: Sequence[Job], force: bool = False) -> Iterator[JobResult]:
        """Yield the results in the order in which the jobs end; `force` runs stored ones again."""
        number = min(self.number, len(jobs))
        if number <= 1:
            for job in jobs:
                yield run_job(job, force)
            return
        threads = max(1, thread_count() // number)
        user_code = plugins.user_code()
        run = partial(run_job, force=force, user_code=user_code, threads=threads)
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
                f"({plugins.error_text(error)}); jobs=1 runs it in this one"
            ) from None


def _lost(job: Job, how: str) -> JobResult:
    """Return the run of a job whose process died: the system kills one that needs too much."""
    guess = " (too little memory?)" if "SIGKILL" in how else ""
    return JobResult(job.key, error=f"its process {how}{guess}", exit_status=1)


def in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    number: int,
    lost: Callable[[Item, str], Result],
    idle: list[Any] | None = None,
) -> Iterator[Result]:
    """Yield function(item) of each item from `number` loky pools of one process, as the calls end.

    A process that dies costs its own call, for which lost(item, how it ended) is yielded. Pools of
    `idle` are used and kept there; without it they end.
    """
    from loky import BrokenProcessPool
    from loky import ProcessPoolExecutor as Executor

    settings = {"initializer": _follow, "initargs": (os.getpid(), os.environ.get(SAFE_PATH))}
    waiting, free = deque(items), list[Executor]() if idle is None else idle
    busy: dict[Future[Result], tuple[Executor, Item]] = {}
    try:
        while waiting or busy:
            while waiting and len(busy) < number:
                item = waiting.popleft()
                with _starting():
                    pool = free.pop() if free else Executor(1, **settings)
                    busy[pool.submit(function, item)] = pool, item
            for call in wait(busy, return_when=FIRST_COMPLETED).done:
                pool, item = busy.pop(call)
                if isinstance(error := call.exception(), BrokenProcessPool):
                    yield lost(item, _end(error))
                else:
                    free.append(pool)
                    yield call.result()
    finally:
        for pool in free if idle is None else ():
            pool.shutdown()
        for pool, _ in busy.values():
            pool.shutdown(kill_workers=True)


@contextmanager
def _starting() -> Iterator[None]:
    """Let no process that starts in the block import from the current folder."""
    before = os.environ.get(SAFE_PATH)
    os.environ[SAFE_PATH] = "1"
    try:
        yield
    except (OSError, UnboundLocalError) as error:
        # loky's clean-up hides that there are too few file descriptors
        reason = error if isinstance(error, OSError) else error.__context__
        raise DataError(
            f"another process cannot be started ({reason}), which needs file descriptors and "
            "semaphores in /dev/shm; one job at a time needs none"
        ) from None
    finally:
        _restore(before)


def _restore(safe_path: str | None) -> None:
    os.environ.pop(SAFE_PATH, None)
    if safe_path is not None:
        os.environ[SAFE_PATH] = safe_path


def _end(error: BaseException) -> str:
    """Return how a process ended, by the last words of loky's error: {SIGKILL(-9)}, {EXIT(4)}."""
    end = re.search(r"exit codes.*?(\w+)\((-?\d+)\)", str(error), re.DOTALL)
    if end is None:
        return "died"
    return f"ended with status {end[2]}" if end[1] == "EXIT" else f"was ended by {end[1]}"


def _follow(parent: int, safe_path: str | None) -> None:
    """Leave Ctrl-C, which reaches all processes, to the parent, and end when that is gone."""
    from loky import process_executor

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    _restore(safe_path)  # for what a plug-in starts
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # loky would end a process, with a warning, that has grown by the data it reads
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True)
class Workers:
    """Runs jobs on an executor's workers, which need share no folder with this process."""

    executor: Executor

    def runs(self, jobs: Sequence[Job], force: bool = False) -> Iterator[JobResult]:
        """Yield the results in the order in which the jobs end; see `Processes`."""
        from cloudpickle import dumps
        from tqdm import tqdm

        user_code = plugins.user_code()

        def submit(job: Job, sent: Job) -> None:
            place = replace(job.protocol, data_dir=job.protocol.data_dir.resolve())
            try:
                payload = dumps((replace(sent, protocol=place), user_code))
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
                        how = gone if future.cancelled() else plugins.error_text(error)
                        yield JobResult(job.key, error=f"the executor failed: {how}", exit_status=1)
                        continue
                    if answer is None:
                        submit(job, replace(job.with_data(), ranker=job.sent().ranker))
                    else:
                        run, files = answer
                        yield store_remote_result(job, run, files, force)
        finally:
            for future in running:
                future.cancel()


def _at_work(executor: Executor) -> bool:
    """Whether workers have tasks; only dask knows."""
    ask = getattr(getattr(executor, "_client", None), "processing", None)
    try:
        return ask is None or any(ask().values())
    except FAILURES:  # the scheduler is gone: the next look at the tasks says so
        return True


#: one job at a time runs in a process: jobs share its limits of threads
_alone = threading.Lock()


def _away(payload: bytes) -> bytes:
    """Run the job that `Workers` sent."""
    from cloudpickle import dumps

    with _alone:
        return dumps(run_job_remotely(*pickle.loads(payload)))


@contextmanager
def dask_executor(address: str) -> Iterator[Executor]:
    """Give the executor of the dask cluster whose scheduler has that address."""
    try:
        from distributed import Client

        # its errors are errors of jobs; it would print their tracebacks
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


@dataclass(frozen=True)
class Shard:
    """One of several parts of a run, decided by a job's names; folds go round the parts."""

    number: int
    of: int

    def has(self, job: Job) -> bool:
        """Return whether a job belongs to the shard."""
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
        raise UsageError(f"shard {text!r}: expected a form like 2/3, the second of three")
    return Shard(int(match[1]), int(match[2]))
