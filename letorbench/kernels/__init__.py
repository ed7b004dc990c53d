"""The compiled inner loops, and nothing else.

A kernel is a plain loop over arrays: it checks nothing (its caller does), allocates
little, releases the interpreter lock, and gives the same bits for any number of threads.
Each has a NumPy twin in its test.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import TypeVar

import numba
import numpy as np
from numba.core.caching import FunctionCache
from numba.core.runtime import rtsys

Result = TypeVar("Result")

#: every kernel with its argument types, for `python -m letorbench.compile`
COMPILED: list[tuple[object, tuple[str, ...]]] = []

#: floating-point freedoms that let a sum be vectorised; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz", "arcp"})


class _KernelCache(FunctionCache):
    """Numba's cache on disk, but a compiled kernel is loaded with what running it needs alone.

    Numba imports all that compiling could need first, scipy.linalg among it: a quarter of a
    second in each command. Where nothing is cached, compiling still does.
    """

    def load_overload(self, sig: object, target_context: object) -> object:
        rtsys.initialize(target_context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(sig, target_context)


def kernel(*signatures: str, reorder: bool = False) -> Callable:
    """Compile a function on its first call with each signature, cached on disk.

    signatures: the argument types it is called with, such as "(float64[::1], int64)".
    reorder:    let the compiler reorder floating-point sums (never where exactness counts).
    """

    def decorate(function: Callable) -> Callable:
        dispatcher = numba.njit(
            nogil=True,
            fastmath=set(REORDER) if reorder else False,
            error_model="numpy",  # a check for zero would keep divisions from being vectorised
        )(function)
        dispatcher._cache = _KernelCache(function)
        COMPILED.append((dispatcher, signatures))
        return dispatcher

    return decorate


def thread_count() -> int:
    """Threads a kernel may use: LETORBENCH_THREADS where set, else the cores given to us."""
    setting = os.environ.get("LETORBENCH_THREADS", "")
    if setting.isdigit() and int(setting) > 0:
        return int(setting)
    try:
        return len(os.sched_getaffinity(0))
    except AttributeError:
        return os.cpu_count() or 1


class _Worker(Thread):
    """A thread that runs one piece of work after the other, for ever.

    A piece costs 12 microseconds this way; concurrent.futures takes 60, which is more than
    many a kernel's whole run in a boosting round.
    """

    def __init__(self, work: SimpleQueue) -> None:
        super().__init__(daemon=True)
        self.work = work

    def run(self) -> None:
        while True:
            piece, done = self.work.get()
            try:
                piece()
                done.put(None)
            except BaseException as error:  # handed over: the thread that asked raises it
                done.put(error)


@cache
def _work(process: int) -> SimpleQueue:
    """The queue of this process's workers, started at the first use (and after a fork)."""
    work: SimpleQueue = SimpleQueue()
    for _ in range(thread_count() - 1):
        _Worker(work).start()
    return work


def in_turn(tasks: Sequence[Callable[[], Result]]) -> list[Result]:
    """Run tasks on all threads, each taking the next; results in the order of the tasks."""
    helpers = min(thread_count(), len(tasks)) - 1
    if helpers < 1 or isinstance(current_thread(), _Worker):
        return [task() for task in tasks]
    pending, results = deque(enumerate(tasks)), [None] * len(tasks)

    def take() -> None:
        while True:
            try:
                number, task = pending.popleft()
            except IndexError:
                return
            results[number] = task()

    work, done = _work(os.getpid()), SimpleQueue()
    for _ in range(helpers):
        work.put((take, done))
    try:
        take()
    finally:
        pending.clear()
        errors = [done.get() for _ in range(helpers)]
    for error in errors:
        if error is not None:
            raise error
    return results


def in_threads(
    task: Callable[[int, int], Result],
    total: int,
    least: int = 1,
    cost: np.ndarray | None = None,
) -> list[Result]:
    """Run task(start, stop) over slices of range(total), one a thread, results in order.

    least: a slice holds at least so many items; below that a thread costs more than it saves.
    cost:  (total,) what each item costs, for slices of equal cost rather than equal length.
    """
    threads = max(1, min(thread_count(), total // max(least, 1)))
    if threads == 1:
        return [task(0, total)]
    shares = np.arange(threads + 1) / threads
    if cost is None:
        bounds = (shares * total).astype(np.int64)
    else:
        spent = np.cumsum(cost)
        bounds = np.searchsorted(spent, shares * spent[-1])
        bounds[0], bounds[-1] = 0, total
    slices = [(int(a), int(b)) for a, b in zip(bounds, bounds[1:]) if a < b]
    return in_turn([partial(task, a, b) for a, b in slices])
