"""Work shared among threads, with results that do not depend on their number."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Sequence
from functools import cache, partial
from queue import SimpleQueue
from threading import Thread, current_thread
from typing import TypeVar

import numpy as np

Result = TypeVar("Result")


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
