"""Calls in other processes of this machine.

Each process is a loky pool of its own, so that one that dies names its call and costs no other.
loky also sends what a script or a notebook defines, and does not run the script again.
"""

import os
import re
import signal
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from typing import Any, TypeVar

from letorbench.errors import DataError

#: the variable that keeps Python from importing from the current folder
SAFE_PATH = "PYTHONSAFEPATH"

Item = TypeVar("Item")
Result = TypeVar("Result")


def in_processes(
    function: Callable[[Item], Result],
    items: Sequence[Item],
    number: int,
    lost: Callable[[Item, str], Result],
    idle: list[Any] | None = None,
) -> Iterator[Result]:
    """Yield function(item) of each item, called in so many processes, as the calls end.

    If a process dies, lost(item, how it ended) is yielded instead, and the other items go on.
    Processes of `idle` are used, and all wait there for another call; without it they end.
    DataError says why no process can be started.
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
    """Let no process that starts meanwhile, loky's trackers too, import from the current folder.

    It gets the import path of this one later. DataError says what of the system is missing.
    """
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
    """Leave Ctrl-C, which reaches all processes, to the parent, and end when that is gone.

    What a plug-in starts has the parent's environment.
    """
    from loky import process_executor

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    _restore(safe_path)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    # loky would end a process, with a warning, that has grown by the data it reads
    process_executor._MAX_MEMORY_LEAK_SIZE = sys.maxsize
    threading.Thread(target=watch, daemon=True).start()
