"""Loops of compiled code whose steps several threads take, none of which is woken for a loop.

To hand a part of a loop to another thread through Python takes 0.1 ms. A helper waits inside
compiled code instead and begins within microseconds, as the threads of OpenMP do; while it waits,
it lets other threads and processes run. The owner of the loop takes steps, too, and waits only for
those that a helper has begun: a helper that comes late, or never, delays nothing.

`run` calls a kernel that takes the steps of loops, in this thread, the owner, and in helpers.
The kernel's last argument is its `Share`. Before a loop the owner calls `begin`; owner and helpers
call `take` before each step and `finish` after it; then the owner calls `wait`. A helper goes on
while `next_loop` says so, and returns how many loops that has counted.
"""

import os
from collections.abc import Callable
from concurrent.futures import Future
from functools import cache
from typing import NamedTuple

import numpy as np
from numba import types
from numba.extending import intrinsic

from letorbench.jit import kernel
from letorbench.threads import pool, thread_count

#: where a board has its own number and how many steps are finished, on cache lines of their own;
#: from `STEPS` on, whether a step is taken
NUMBER, FINISHED, STEPS = 0, 8, 16
#: where the bell has how many loops have begun, the number of the last one's board, and whether an
#: owner is in a kernel
BEGUN, WHOSE, OWNED = 0, 1, 2
#: how often a thread looks at a number before it lets others run, which takes a microsecond, and
#: how often a helper does so, where no owner is in a kernel, before it leaves: some milliseconds
LOOKS, TURNS = 4096, 2048


class Share(NamedTuple):
    """What a kernel knows of the loops that it shares.

    board: the state of its loop. bell: tells helpers that a loop has begun. first: the step that
    the thread takes first, 0 for the owner. begun: how many loops had begun when a helper was
    called.
    """

    board: np.ndarray
    bell: np.ndarray
    first: int
    begun: int


def new_board(steps: int) -> np.ndarray:
    """Return the board of loops of so many steps, for one kernel with the same arguments.

    A helper that comes late has the arguments of its board, so others need a new one.
    """
    board = np.ones(STEPS + steps, np.int64)
    board[NUMBER] = id(board)
    return board


def run(task: Callable, arguments: tuple, board: np.ndarray) -> None:
    """Call ``task(*arguments, share)``, a kernel, here and in helpers."""
    threads = min(thread_count(), len(board) - STEPS)
    crew = _crew(os.getpid()) if threads > 1 else _Crew()
    try:
        crew.call(task, arguments, board, threads)
        task(*arguments, Share(board, crew.bell, 0, 0))
    finally:
        crew.bell[OWNED] = 0  # also after Ctrl-C: helpers would never leave


class _Crew:
    """The helpers of a process. They are threads of the pool, and all work for one owner."""

    def __init__(self) -> None:
        self.bell = np.zeros(STEPS, np.int64)
        self._work: tuple[Callable, tuple, np.ndarray, int] | None = None
        self._running: dict[int, Future] = {}

    def call(self, task: Callable, arguments: tuple, board: np.ndarray, threads: int) -> None:
        """Have helpers call a kernel, also those that have left or never came."""
        self.bell[OWNED] = 1
        self._work = task, arguments, board, threads
        for number in range(1, threads):
            if number not in self._running or self._running[number].done():
                self._running[number] = pool().submit(self._help, number)

    def _help(self, number: int) -> None:
        begun = int(self.bell[BEGUN])
        while begun >= 0 and (work := self._work) is not None:
            task, arguments, board, threads = work
            if number >= threads:
                return
            first = number * (len(board) - STEPS) // threads
            begun = task(*arguments, Share(board, self.bell, first, begun))
        self._work = None  # or the arrays of the last training stayed in memory


@cache
def _crew(process: int) -> _Crew:
    """Return the helpers of this process; a forked child has its own."""
    return _Crew()


def _atomic(operation: str) -> Callable:
    """Return a function of compiled code: array[place] becomes what LLVM's operation makes of it
    and a number; what was there is returned."""

    @intrinsic
    def changed(typing, array, place, number):
        def generate(context, builder, signature, arguments):
            data = context.make_array(signature.args[0])(context, builder, arguments[0]).data
            address = builder.gep(data, [arguments[1]])
            if operation == "load":
                return builder.load_atomic(address, "seq_cst", 8)
            return builder.atomic_rmw(operation, address, arguments[2], "seq_cst")

        return types.int64(array, types.int64, types.int64), generate

    return changed


_load, _add, _exchange = map(_atomic, ("load", "add", "xchg"))
#: lets another thread run where one waits for this core; elsewhere it does nothing that matters
_let_others_run = types.ExternalFunction(
    "sched_yield" if os.name == "posix" else "SwitchToThread", types.int32()
)


@kernel()
def begin(share: Share) -> None:
    """Let all take the steps; what they need has been written before."""
    _exchange(share.board, FINISHED, 0)
    for place in range(STEPS, len(share.board)):
        _exchange(share.board, place, 0)
    _exchange(share.bell, WHOSE, share.board[NUMBER])
    _add(share.bell, BEGUN, 1)


@kernel()
def take(share: Share) -> int:
    """Return a step that nobody has, the next one from the first on; -1 if all are taken.

    A thread that begins with the same step in each loop finds its data of the last one in its own
    cache.
    """
    steps = len(share.board) - STEPS
    for k in range(share.first, share.first + steps):
        step = k if k < steps else k - steps
        place = STEPS + step
        if _load(share.board, place, 0) == 0 and _exchange(share.board, place, 1) == 0:
            return step
    return -1


@kernel()
def finish(share: Share) -> None:
    """Say that a step is done."""
    _add(share.board, FINISHED, 1)


@kernel()
def wait(share: Share) -> None:
    """Return when all steps are done; all are taken."""
    steps = len(share.board) - STEPS
    while True:
        for _ in range(LOOKS):
            if _load(share.board, FINISHED, 0) >= steps:
                return
        _let_others_run()


@kernel()
def next_loop(share: Share, begun: int) -> tuple[bool, int]:
    """Wait until more loops have begun than so many.

    Return whether the last one is of this board, and how many have begun: -1 where none did for
    long, and no owner is in a kernel that may begin one.
    """
    turns = 0
    while turns < TURNS or _load(share.bell, OWNED, 0) == 1:
        turns += 1
        for _ in range(LOOKS):
            now = _load(share.bell, BEGUN, 0)
            if now != begun:
                return _load(share.bell, WHOSE, 0) == share.board[NUMBER], now
        _let_others_run()
    return False, -1
