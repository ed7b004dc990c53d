"""The compiled inner loops, and nothing else.

A kernel is a plain loop over arrays: it checks nothing (its caller does), allocates
little, releases the interpreter lock, and gives the same bits for any number of threads.
Each has a NumPy twin in its test.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import TypeVar

import numba

Result = TypeVar("Result")

#: every kernel with its argument types, for `python -m letorbench.kernels`
COMPILED: list[tuple[object, tuple[str, ...]]] = []

#: floating-point freedoms that let a sum be vectorised; NaN and infinity keep their meaning
REORDER = frozenset({"reassoc", "contract", "nsz", "arcp"})


def kernel(*signatures: str, reorder: bool = False, inline: bool = False) -> Callable:
    """Compile a function on its first call with each signature, cached on disk.

    signatures: the argument types it is called with, such as "(float64[::1], int64)".
    reorder:    let the compiler reorder floating-point sums (never where exactness counts).
    """

    def decorate(function: Callable) -> Callable:
        dispatcher = numba.njit(
            nogil=True,
            cache=True,
            fastmath=set(REORDER) if reorder else False,
            inline="always" if inline else "never",
        )(function)
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


@cache
def _pool(threads: int, process: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads - 1)


def in_threads(task: Callable[[int, int], Result], total: int, least: int = 1) -> list[Result]:
    """Run task(start, stop) over slices of range(total), one a thread, results in order.

    A slice holds at least `least` items: below that a thread costs more than it saves. The
    calling thread takes the first slice itself.
    """
    threads = max(1, min(thread_count(), total // max(least, 1)))
    if threads == 1:
        return [task(0, total)]
    bounds = [total * i // threads for i in range(threads + 1)]
    pool = _pool(thread_count(), os.getpid())
    later = [pool.submit(task, a, b) for a, b in zip(bounds[1:-1], bounds[2:])]
    return [task(0, bounds[1])] + [future.result() for future in later]


def in_turn(tasks: Iterable[Callable[[], Result]]) -> list[Result]:
    """Run many uneven tasks, each thread taking the next; results in the order of the tasks."""
    tasks = list(tasks)
    if thread_count() == 1 or len(tasks) < 2:
        return [task() for task in tasks]
    with ThreadPoolExecutor(thread_count()) as pool:
        return [future.result() for future in [pool.submit(task) for task in tasks]]
