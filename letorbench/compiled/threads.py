"""Work shared among threads, with results that do not depend on their number."""

import os
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from functools import cache, partial
from importlib import import_module
from types import MappingProxyType
from typing import TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from letorbench.errors import UsageError

Result = TypeVar("Result")
#: the environment variable for the number of threads
VARIABLE = "LETORBENCH_THREADS"

_limit: ContextVar[int | None] = ContextVar("thread limit", default=None)
#: the errors of the other tasks of the same batch, by their numbers
_errors: ContextVar[Mapping[int, BaseException]] = ContextVar(
    "errors of the tasks beside", default=MappingProxyType({})
)


def thread_count() -> int:
    """Return how many threads a computation may use: limit, LETORBENCH_THREADS or cores at hand."""
    limit = _limit.get()
    if limit is not None:
        return limit
    setting = os.environ.get(VARIABLE, "")
    if setting:
        if not re.fullmatch("0*[1-9][0-9]{0,3}", setting, re.ASCII):
            raise UsageError(f"{VARIABLE}={setting[:40]}: expected a number of threads, 1 to 9999")
        return int(setting)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


@contextmanager
def limited_threads(count: int | None) -> Iterator[None]:
    """Let computations inside the block use at most `count` threads; None changes nothing."""
    token = _limit.set(_limit.get() if count is None else max(1, count))
    try:
        yield
    finally:
        _limit.reset(token)


def one_blas_thread() -> AbstractContextManager:
    """Return a context in which BLAS uses one thread."""
    # BLAS splits a sum by its number of threads, so the last bits of a product depend on it
    return _libraries().limit(limits=1, user_api="blas")


@cache
def _libraries() -> ThreadpoolController:
    """Return the control of the BLAS libraries of NumPy and SciPy; finding them takes time."""
    import_module("scipy.linalg")  # SciPy has a separate BLAS and loads it here
    return ThreadpoolController()


@cache
def _pool(process: int, size: int) -> ThreadPoolExecutor:
    """Return the pool of the other threads of this process; a forked child makes a new one."""
    return ThreadPoolExecutor(size, thread_name_prefix="letorbench-worker")


def cancelled() -> bool:
    """True once another task of the same batch has failed; long tasks poll this and stop early."""
    # Ctrl-C ends only the task of the first thread
    return bool(_errors.get())


def run_tasks(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run tasks on all threads, each on one; return their results in the order of the tasks."""
    # after an error no further task begins
    threads = min(thread_count(), len(tasks))
    if threads < 2:
        return [task() for task in tasks]
    numbers = iter(range(len(tasks)))
    results: dict[int, Result] = {}
    errors: dict[int, BaseException] = {}

    def work() -> None:
        token = _errors.set(errors)
        try:
            for number in numbers:
                if errors:
                    break
                try:
                    with limited_threads(1):
                        results[number] = tasks[number]()
                except BaseException as error:
                    errors[number] = error
        finally:
            _errors.reset(token)

    try:
        others = [_pool(os.getpid(), thread_count() - 1).submit(work) for _ in range(threads - 1)]
        work()
        others = [each for each in others if not each.cancel()]  # the cancelled find no task left
        # nobody waits after Ctrl-C, which may have left a lock locked that another thread wants
        if not any(isinstance(error, KeyboardInterrupt) for error in list(errors.values())):
            wait(others)
    except BaseException as interruption:  # it ends the tasks of the other threads too
        errors[len(tasks)] = interruption
    if errors:
        # Ctrl-C before the errors that it caused; else the first, since tasks begin in order
        stops = [n for n, error in list(errors.items()) if isinstance(error, KeyboardInterrupt)]
        raise errors[min(stops or list(errors))]
    return [results[number] for number in range(len(tasks))]


def parallel_for(
    task: Callable[[int, int], Result], total: int, least: int = 1, cost: np.ndarray | None = None
) -> list[Result]:
    """Run task(start, stop) over slices of range(total), one per thread; return the results.

    A slice has at least `least` items, since a thread costs more than it saves on fewer. Slices
    have equal length, or equal `cost` (total,) if given.
    """
    threads = max(1, min(thread_count(), total // max(least, 1)))
    if threads == 1:
        return [task(0, total)]
    bounds = equal_parts(total, threads, cost).tolist()
    return run_tasks([partial(task, a, b) for a, b in zip(bounds, bounds[1:]) if a < b])


def equal_parts(total: int, parts: int, cost: np.ndarray | None = None) -> np.ndarray:
    """Return the bounds of parts of range(total), (parts + 1,) int64, of equal length or cost."""
    shares = np.arange(parts + 1) / parts
    if cost is None:
        return (shares * total).astype(np.int64)
    spent = np.cumsum(cost)
    bounds = np.searchsorted(spent, shares * spent[-1])
    bounds[0], bounds[-1] = 0, total
    return bounds
